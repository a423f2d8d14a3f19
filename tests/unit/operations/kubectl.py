"""A kubectl that plays answers, for whatever `operations` asks of a cluster."""

import json
import shutil
from pathlib import Path
from typing import Any


class Kubectl:
    """Answers for what is asked, in the order in which it is asked, and what was asked."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copy(Path(__file__).parent / "fake_kubectl", folder / "kubectl")
        self._given: dict[str, int] = {}
        for what in ("annotate", "names", "reconfigure", "drain", "undrain", "end-jobs", "delete", "squeue"):
            self.answers(what)
        self.answers("statefulsets", items())

    def answers(self, what: str, out: str = "", err: str = "", code: int = 0) -> None:
        number = self._given[what] = self._given.get(what, 0) + 1
        for ending, text in {"out": out, "err": err, "rc": str(code)}.items():
            (self.folder / f"{what}.{number}.{ending}").write_text(text)

    def answers_at_first(self, what: str, out: str = "", err: str = "", code: int = 0) -> None:
        """In place of all answers that were given for it."""
        self._given[what] = 0
        self.answers(what, out, err, code)

    @property
    def calls(self) -> list[str]:
        return (self.folder / "calls").read_text().splitlines()

    @property
    def asked(self) -> list[str]:
        """In order, and each thing once however often it was repeated."""
        words = [call.split()[0] for call in self.calls]
        return [word for place, word in enumerate(words) if place == 0 or words[place - 1] != word]


def items(*each: dict[str, Any]) -> str:
    """As `kubectl get --output json` shows them."""
    return json.dumps({"items": each})
