"""Each room of the house imports only what CONTRIBUTING.md allows it to."""

import ast
from pathlib import Path

import pytest

HOUSE = Path(__file__).parents[2]
ALLOWED = {
    "config": set(),
    "slurm": {"config"},
    "components": {"config", "slurm"},
    "operations": {"config", "slurm"},
    "monitoring": set(),
    "policies": set(),
    "lab": set(),
    "handbook": {"config", "slurm", "operations", "policies", "lab"},
}
PURE = ("config", "slurm")


def imports(room: str) -> set[str]:
    """The first word of every import in a room."""
    found = set()
    for file in (HOUSE / room).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.split(".")[0])
    return found


@pytest.mark.parametrize("room", ALLOWED)
def test_a_room_imports_only_what_it_may(room: str) -> None:
    assert imports(room) & set(ALLOWED) <= ALLOWED[room] | {room}


@pytest.mark.parametrize("room", PURE)
def test_what_is_pure_knows_nothing_of_pulumi(room: str) -> None:
    assert not {name for name in imports(room) if name.startswith("pulumi")}
