"""What all sections of a stack config have in common."""

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Section(BaseModel):
    """A part of the config: camelCase in a stack file, snake_case in Python, fixed once it is read.

    An unknown key is an error, because it is a typing mistake more often than anything else."""

    model_config = ConfigDict(
        alias_generator=to_camel,
        extra="forbid",
        frozen=True,
        use_attribute_docstrings=True,
        validate_by_alias=True,
        validate_by_name=True,  # for Python; a stack file is read by alias alone
    )
