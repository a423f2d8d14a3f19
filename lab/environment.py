"""The environment in which people and programs use a lab: `uv run lab env` prints it."""

import shlex
from pathlib import Path

from lab import golang, images, paths, pulumi, ssh
from lab.layout import Lab
from lab.run import which

# State of a lab's stacks is as short-lived as the lab, so its passphrase is no secret. It is fixed, and belongs to the
# salt in Pulumi.dev.yaml: with a new one for every lab that file would change at every `make up`.
PASSPHRASE = "slipway-lab"  # noqa: S105


def prepare(lab: Lab) -> dict[str, str]:
    """Make the folders that the variables name, and return the variables."""
    chosen = pulumi.choose()
    pulumi.equip(chosen, lab.home / "pulumi")
    bin_folder = lab.home / "bin"
    for folder in (bin_folder, lab.home / "state"):
        folder.mkdir(parents=True, exist_ok=True)
    ssh.make_key(lab)
    _link(bin_folder / "pulumi", chosen.program)
    own = which("kubectl") if (lab.home / "context").exists() else None
    _link(bin_folder / "kubectl", Path(own) if own else golang.build(golang.KUBERNETES) / "kubectl")
    return variables(lab)


def variables(lab: Lab) -> dict[str, str]:
    found = {
        "KUBECONFIG": str(lab.kubeconfig),
        "PULUMI_HOME": str(lab.home / "pulumi"),
        "PULUMI_BACKEND_URL": f"file://{lab.home / 'state'}",
        "PULUMI_CONFIG_PASSPHRASE": PASSPHRASE,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "KUBECACHEDIR": str(lab.home / "kubectl"),
        "SLIPWAY_LAB": lab.name,
        **ssh.variables(lab),
    }
    if (lab.home / "context").exists():
        return found  # its nodes do not have the images that are built here: the stack says where they are
    found["SLIPWAY_LAB_ADDRESS"] = lab.loopback
    found |= {image.variable: image.reference for image in images.ours()}
    found["SLIPWAY_CGROUP"] = "v2" if Path("/sys/fs/cgroup/cgroup.controllers").exists() else "disabled"
    return found


def with_path(lab: Lab, path: str) -> dict[str, str]:
    """All variables, and a PATH that finds the lab's `pulumi` and `kubectl` and this project's own commands first."""
    return {**variables(lab), "PATH": ":".join([*_folders(lab), path])}


def _folders(lab: Lab) -> list[str]:
    return [str(lab.home / "bin"), str(paths.CHECKOUT / ".venv" / "bin")]


def exports(lab: Lab) -> str:
    """Lines for `eval "$(uv run lab env)"`."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in variables(lab).items()]
    return "\n".join([*lines, f'export PATH={shlex.quote(":".join(_folders(lab)))}:"$PATH"'])


def _link(link: Path, target: Path) -> None:
    if link.is_symlink() and link.readlink() == target:
        return
    link.unlink(missing_ok=True)
    link.symlink_to(target)
