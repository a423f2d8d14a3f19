"""What is wrong with a config, in a form that says where and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong: the key as the user wrote it, and what to do."""

    key: str
    message: str

    def __str__(self) -> str:
        return f"{self.key}: {self.message}"


class ConfigProblems(Exception):  # noqa: N818 -- it carries problems, however many
    """Everything that is wrong with a config, all at once."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(dict.fromkeys(problems))
        count = "1 problem" if len(self.problems) == 1 else f"{len(self.problems)} problems"
        super().__init__("\n".join([f"The stack config is not valid ({count}):", *(f"  {p}" for p in self.problems)]))
