"""The language host runs programs as the official one does: config, names, output, and how they fail."""

import os
import sys
import venv
from pathlib import Path

from tests.engine.project import Project


def test_a_program_gets_its_config_secrets_names_and_directory(project: Project) -> None:
    project.settings(main="src")
    project.config("size", "4")
    project.config("nested.list[0]", "first", path=True)
    project.config("token", "hush-hush", secret=True)
    project.file("src/beside.py", "WHERE = 'beside the program'")
    project.file(
        "src/__main__.py",
        """
        import os, sys
        import pulumi
        from beside import WHERE

        config = pulumi.Config()
        for number in (1, 2):
            print("stdout", number)
            print("stderr", number, file=sys.stderr)
        if pulumi.runtime.is_dry_run():
            print("this is a dry run")
        pulumi.export("size", config.require_int("size") + 1)
        pulumi.export("nested", config.require_object("nested"))
        pulumi.export("token", config.require_secret("token"))
        pulumi.export("where", WHERE)
        pulumi.export("names", [pulumi.get_organization(), pulumi.get_project(), pulumi.get_stack()])
        pulumi.export("root", pulumi.runtime.get_root_directory())
        pulumi.export("cwd", os.getcwd())
        pulumi.export("argv", sys.argv)
        pulumi.export("main", __name__)
        """,
    )
    preview = project.preview()
    assert "this is a dry run" in preview.text
    up = project.up()
    assert "this is a dry run" not in up.text
    for stream in ("stdout", "stderr"):
        assert [text for text in up.diagnostics() if stream in text] == [f"{stream} 1", f"{stream} 2"]
    assert project.outputs() == {
        "size": 5,
        "nested": {"list": ["first"]},
        "token": "[secret]",
        "where": "beside the program",
        "names": ["organization", project.name, project.stack],
        "root": str(project.directory),
        "cwd": str(project.directory / "src"),
        "argv": ["."],
        "main": "__main__",
    }
    assert project.outputs(show_secrets=True)["token"] == "hush-hush"  # noqa: S105
    assert "hush-hush" not in preview.text + up.text


def test_an_exception_shows_the_programs_own_traceback_once(project: Project) -> None:
    project.write("def wrong():\n    return 1 / 0\n\nwrong()\n")
    result = project.up(fails=True)
    assert result.rc == 1
    assert result.text.count("Traceback (most recent call last)") == 1
    [error] = result.diagnostics("error")
    assert "__main__.py" in error
    assert "in wrong" in error
    assert error.endswith("ZeroDivisionError: division by zero")
    assert "launch.py" not in result.text
    assert "runpy" not in result.text


def test_an_exception_in_an_apply_shows_its_traceback_once(project: Project) -> None:
    project.write("import pulumi\npulumi.export('x', pulumi.Output.from_input(0).apply(lambda x: 1 / x))\n")
    result = project.preview(fails=True)
    assert result.text.count("Traceback (most recent call last)") == 1
    assert result.text.count("ZeroDivisionError: division by zero") == 1


def test_a_run_error_shows_nothing_but_its_message(project: Project) -> None:
    project.write("import pulumi\nraise pulumi.RunError('worker.size cannot shrink: drain worker-3 first')\n")
    for result in (project.preview(fails=True), project.up(fails=True)):
        assert result.rc == 1
        [error] = [text for text in result.diagnostics("error") if text not in ("preview failed", "update failed")]
        assert error == "worker.size cannot shrink: drain worker-3 first"
        assert "Traceback" not in result.text
        assert "unhandled" not in result.text


def test_an_exit_code_is_named(project: Project) -> None:
    project.write("import sys\nprint('last words')\nsys.exit(3)\n")
    result = project.up(fails=True)
    assert "exited with code 3" in result.text
    assert "last words" in result.text


def test_a_missing_program_is_named_with_its_path(project: Project) -> None:
    result = project.preview(fails=True)
    assert f"there is no program at {project.directory / '__main__.py'}" in result.text
    assert "Traceback" not in result.text


def test_a_missing_sdk_is_named_with_the_environment(project: Project, tmp_path: Path) -> None:
    venv.create(tmp_path / "empty", with_pip=False, symlinks=True)
    project.settings(runtime={"name": "python", "options": {"virtualenv": str(tmp_path / "empty")}})
    project.write("import pulumi\n")
    assert f"The Pulumi SDK is not installed in {tmp_path / 'empty'}" in project.preview(fails=True).text


def test_the_programs_environment_is_activated_and_relative_to_the_project(project: Project) -> None:
    _borrowing_environment(project.directory / "deploy" / "env")
    project.settings(runtime={"name": "python", "options": {"virtualenv": "deploy/env"}})
    project.write("import os, pathlib, sys\npathlib.Path('seen').write_text(sys.prefix + ' ' + os.environ['PATH'])\n")
    project.preview()
    prefix, path = (project.directory / "seen").read_text().split(" ", 1)
    assert prefix == str(project.directory / "deploy" / "env")
    assert path.split(os.pathsep)[0] == f"{prefix}/bin"


def test_with_uv_the_environment_is_the_one_beside_the_project(project: Project) -> None:
    _borrowing_environment(project.directory / ".venv")
    project.settings(runtime={"name": "python", "options": {"toolchain": "uv"}})
    project.write("import pathlib, sys\npathlib.Path('seen').write_text(sys.prefix)\n")
    project.preview()
    assert (project.directory / "seen").read_text() == str(project.directory / ".venv")


def test_a_missing_environment_is_an_error_with_the_way_out(project: Project) -> None:
    project.settings(runtime={"name": "python", "options": {"virtualenv": "nowhere"}})
    project.write("import pulumi\n")
    result = project.preview(fails=True)
    assert f"{project.directory / 'nowhere'}, which does not exist" in result.text
    assert f"python3 -m venv {project.directory / 'nowhere'}" in result.text


def test_about_names_the_interpreter_the_plugins_and_the_packages(project: Project) -> None:
    project.write("import pulumi\n")
    text = project.pulumi("about", "--transitive").text
    assert f"executable='{sys.executable}' version='{sys.version.split()[0]}'" in text
    for plugin in (["language", "python"], ["resource", "command"], ["resource", "kubernetes"]):
        assert plugin in [line.split()[:2] for line in text.splitlines()]
    assert ["pulumi-command"] in [line.split()[:1] for line in text.splitlines()]


def test_install_leaves_the_environment_as_it_is(project: Project) -> None:
    project.file("requirements.txt", "a-package-that-does-not-exist-anywhere\n")
    project.write("import pulumi\n")
    assert "Nothing installed" in project.pulumi("install").text


def _borrowing_environment(path: Path) -> None:
    """A virtual environment that finds the packages of the one that runs the tests."""
    venv.create(path, with_pip=False, symlinks=True)
    [site_packages] = path.glob("lib/python3*/site-packages")
    [ours] = Path(sys.prefix).glob("lib/python3*/site-packages")
    (site_packages / "borrowed.pth").write_text(f"{ours}\n")
