"""What a person is told when the lab cannot go on."""


class Problem(Exception):  # noqa: N818 -- it reads as what it is: `raise Problem("…")`
    """Something the user can mend: the message says what happened, where, and what to do. Shown without a traceback."""
