"""`operations/run COMMAND`: what the stack's command resources run."""

import os
import sys

from operations import keys
from operations.problem import Problem
from operations.progress import end_on_signals

COMMANDS = ("prepare", "accounts", "apply", "settle-accounts", "roll", "look", "return-nodes")


def main(words: list[str]) -> int:
    try:
        match words:
            case ["keys", kind] if kind in keys.KINDS:
                return keys.main(kind)
            case ["certificate", host]:
                return _certificate(host)
            case ["return-nodes"]:
                return _return_nodes()
            case ["accounts" | "settle-accounts" as what]:
                return _accounts(what)
            case ["prepare" | "apply" | "roll" | "look" as what]:
                return _operate(what)
            case _:
                kinds = "|".join(keys.KINDS)
                commands = " | ".join(COMMANDS)
                sys.stderr.write(f"usage: operations/run keys {kinds} | certificate HOST | {commands}\n")
                return 2
    except Problem as problem:
        sys.stderr.write(f"{problem}\n")
        return 1


def _certificate(host: str) -> int:
    from operations.certificate import main as certificate

    return certificate(host)


def _return_nodes() -> int:
    from operations.lending import main as lending

    end_on_signals()
    return lending()


def _accounts(what: str) -> int:
    from operations.accounts import Wishes, declare, settle

    end_on_signals()
    (declare if what == "accounts" else settle)(Wishes.read(os.environ))
    return 0


def _operate(what: str) -> int:
    """Each is imported only when it is asked for: a second is much for a command that takes two."""
    from operations.wishes import Wishes

    end_on_signals()
    wishes = Wishes.read(os.environ)
    match what:
        case "prepare":
            from operations.prepare import prepare as operation
        case "apply":
            from operations.apply import apply as operation
        case "roll":
            from operations.roll import roll as operation
        case _:
            from operations.look import look as operation
    operation(wishes)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
