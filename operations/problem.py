"""What went wrong, in words for whoever runs `pulumi up`."""


class Problem(Exception):  # noqa: N818 -- a word for users, as in lab
    """A message to show without a traceback: what happened, where, and what to do."""


class Cancelled(Problem):
    """The update was told to end."""


class Abandoned(Problem):
    """Whoever started this is gone. The next one may be at work already, so that nothing is put back."""
