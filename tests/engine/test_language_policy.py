"""Policy packs run through the language host's RunPlugin."""

import json
import sys
from pathlib import Path

import pytest

from tests.engine.project import Project

_RULE = """
from pulumi_policy import EnforcementLevel, PolicyConfigSchema, PolicyPack, ResourceValidationPolicy
from words import FORBIDDEN


def no_forbidden_words(args, report):
    words = args.get_config().get("words", FORBIDDEN)
    if args.resource_type == "command:local:Command" and args.props["create"] in words:
        report(f"{args.props['create']} is forbidden")


PolicyPack(
    "words",
    policies=[
        ResourceValidationPolicy(
            name="no-forbidden-words",
            description="Some words are forbidden.",
            config_schema=PolicyConfigSchema(properties={"words": {"type": "array", "items": {"type": "string"}}}),
            validate=no_forbidden_words,
        ),
    ],
    enforcement_level=EnforcementLevel.MANDATORY,
)
"""
_PROGRAM = "from pulumi_command import local\nlocal.Command('said', create='{}')\n"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """A pack with one mandatory rule and a module of its own; its environment is named relative to itself."""
    path = tmp_path / "pack"
    path.mkdir()
    (path / "env").symlink_to(sys.prefix)
    (path / "PulumiPolicy.yaml").write_text("runtime:\n  name: python\n  options:\n    virtualenv: env\n")
    (path / "words.py").write_text("FORBIDDEN = ['false']\n")
    (path / "__main__.py").write_text(_RULE)
    return path


def test_a_mandatory_violation_blocks_and_its_correction_passes(project: Project, pack: Path) -> None:
    project.write(_PROGRAM.format("false"))
    preview = project.preview("--policy-pack", str(pack), fails=True)
    assert preview.violations == [("mandatory", "no-forbidden-words")], preview.text
    up = project.up("--policy-pack", str(pack), fails=True)
    assert up.violations == [("mandatory", "no-forbidden-words")], up.text
    assert "false is forbidden" in up.text
    assert project.resource("said") is None
    project.write(_PROGRAM.format("true"))
    passed = project.up("--policy-pack", str(pack), preview=True)
    assert passed.violations == []
    assert passed.operation("said") == "create"


def test_a_pack_gets_its_own_config(project: Project, pack: Path, tmp_path: Path) -> None:
    (tmp_path / "words.json").write_text(json.dumps({"no-forbidden-words": {"words": ["true"]}}))
    project.write(_PROGRAM.format("true"))
    arguments = ["--policy-pack", str(pack), "--policy-pack-config", str(tmp_path / "words.json")]
    result = project.preview(*arguments, fails=True)
    assert "true is forbidden" in result.text


def test_a_pack_that_does_not_load_stops_the_preview_with_its_traceback(project: Project, pack: Path) -> None:
    (pack / "__main__.py").write_text("import no_such_module\n")
    project.write(_PROGRAM.format("true"))
    result = project.preview("--policy-pack", str(pack), fails=True)
    assert "No module named 'no_such_module'" in result.text
    assert project.resource("said") is None


def test_a_pack_whose_environment_is_missing_names_the_way_out(project: Project, pack: Path) -> None:
    (pack / "env").unlink()
    project.write(_PROGRAM.format("true"))
    result = project.preview("--policy-pack", str(pack), fails=True)
    assert f"{pack / 'env'}, which does not exist" in result.text
