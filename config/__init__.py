"""What a user may say: pydantic models of the stack config, one file per section."""

from config.settings import Settings

__all__ = ["Settings"]
