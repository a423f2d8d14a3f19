"""What a user may say: pydantic models of the stack config, one file per section."""

from config.problems import ConfigProblems, Problem
from config.settings import Settings

__all__ = ["ConfigProblems", "Problem", "Settings"]
