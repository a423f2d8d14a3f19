"""`operations/run COMMAND`: what the stack's command resources run."""

import sys

from operations import apply, keys
from operations.problem import Problem


def main(words: list[str]) -> int:
    try:
        match words:
            case ["keys", kind] if kind in keys.KINDS:
                return keys.main(kind)
            case ["apply"]:
                return apply.main()
            case _:
                sys.stderr.write(f"usage: operations/run keys {'|'.join(keys.KINDS)} | apply\n")
                return 2
    except Problem as problem:
        sys.stderr.write(f"{problem}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
