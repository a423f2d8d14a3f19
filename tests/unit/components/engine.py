"""The engine and the cluster, as far as a run asks them before it makes a resource."""

import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from components import change
from components.change import Change
from config import Settings
from slurm.render import render

FOUR: dict[str, Any] = {"worker": {"size": 4}}
TWO: dict[str, Any] = {"worker": {"size": 2}}


@dataclass
class Engine:
    """What the engine and the cluster tell, what they were asked, and what a user was shown."""

    outputs: dict[str, Any] | None = None
    look: dict[str, Any] = field(default_factory=lambda: {"unreachable": "no such host"})
    invoked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    ran: dict[str, Any] = field(default_factory=dict)
    infos: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def invoke(self, token: str, arguments: dict[str, Any]) -> Any:
        self.invoked.append((token, arguments))
        return SimpleNamespace(value={"outputs": self.outputs} if self.outputs is not None else None)

    def run(self, **arguments: Any) -> Any:
        self.ran = arguments
        return SimpleNamespace(stdout=json.dumps(self.look))

    def deployed(self, settings: Settings, repairs: int = 0) -> None:
        """As an update with these settings that went well has left it."""
        files = render(settings)
        self.outputs = {"files": files, "deployed": change.deployed(settings, Change(repairs=repairs))}
        self.look = {"applied": files, "unfinished": False}

    @property
    def shown(self) -> str:
        return "\n".join([*self.infos, *self.warnings])
