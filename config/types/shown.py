"""Values in messages: as the user wrote them, and never more than a glance of them."""

LONGEST = 60  # enough to recognise a value, too little to leak a key that was pasted into the wrong place


def shown(value: object) -> str:
    """A value as it could stand in a stack file, cut where it is long."""
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
