"""What went wrong, in words for whoever runs `pulumi up`."""

from collections.abc import Iterator
from contextlib import contextmanager


class Problem(Exception):  # noqa: N818 -- a word for users, as in lab
    """A message to show without a traceback: what happened, where, and what to do."""


class Cancelled(Problem):
    """The update was told to end."""


class Unanswered(Problem):
    """Nobody has heard the question. Whoever has time may ask again."""


class Abandoned(Problem):
    """Whoever started this is gone. The next one may be at work already, so that nothing is put back."""


@contextmanager
def putting_back(first: Problem) -> Iterator[None]:
    """What fails in here is told after what failed first, and not in its place."""
    try:
        yield
    except Problem as again:
        raise type(first)(f"{first}\nAnd it could not be put back: {again}\nThe next `pulumi up` does.") from None
