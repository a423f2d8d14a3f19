"""Which Pulumi is used: the one on PATH, else the official download, else one built from its Go module.

Where a plugin is neither beside the CLI nor to be had, the small one under `lab/plugins/` takes its place."""

import os
import platform
import shutil
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from lab import golang, paths
from lab.locks import only_one
from lab.plugins.install import install
from lab.problem import Problem
from lab.progress import say, step
from lab.run import run, which

DOWNLOADS = "https://get.pulumi.com/releases/sdk"
DOWNLOAD_SECONDS = 10
LANGUAGE = ("language", "python", "pulumi")
RESOURCES = (("resource", "kubernetes", "pulumi-kubernetes"), ("resource", "command", "pulumi-command"))


@dataclass(frozen=True)
class Pulumi:
    program: Path
    origin: str

    @property
    def folder(self) -> Path:
        return self.program.resolve().parent

    def has(self, kind: str, name: str) -> bool:
        """Whether the CLI would find this plugin without our help."""
        file = f"pulumi-{kind}-{name}"
        return bool(which(file)) or (self.folder / file).exists()


def choose() -> Pulumi:
    """Find the CLI, or get it. What the cache has is taken before anything is fetched or built."""
    on_path = which("pulumi")
    if on_path:
        return Pulumi(Path(on_path), "from PATH")
    downloaded = _download_home() / "pulumi"
    if downloaded.exists():
        return Pulumi(downloaded, "downloaded")
    if not golang.PULUMI.built and download():
        return Pulumi(downloaded, "downloaded")
    golang.build(golang.PULUMI)
    return Pulumi(golang.PULUMI.binary, "built from its Go module")


def equip(pulumi: Pulumi, home: Path) -> None:
    """Give a PULUMI_HOME the plugins that the CLI does not find by itself, and say what was chosen."""
    ours = []
    if not pulumi.has("language", "python"):
        ours.append("python")
    for kind, name, wheel in RESOURCES:
        if not pulumi.has(kind, name) and not _official(pulumi, home, kind, name, version(wheel)):
            ours.append(name)
    install(home, Path(sys.executable), ours)
    plugins = f"; plugins from lab/plugins: {', '.join(ours)}" if ours else "; official plugins"
    say(f"  pulumi {run([pulumi.program, 'version']).strip()} {pulumi.origin}{plugins}")


def _official(pulumi: Pulumi, home: Path, kind: str, name: str, wanted: str) -> bool:
    """Fetch the official plugin into the cache, if this CLI is an official one too, and link it into `home`."""
    if pulumi.origin.startswith("built"):
        return False  # it was built because the download site does not answer
    cache = paths.tools() / "pulumi-plugins"
    folder = f"{kind}-{name}-v{wanted}"
    refused = cache / f"{folder}.refused"  # asked for once and not again: this machine reaches registries only
    if refused.exists():
        return False
    if not (cache / "plugins" / folder).exists():
        try:
            with step(f"plugin {name} {wanted}: fetching", quiet_below=1.0):
                run([pulumi.program, "plugin", "install", kind, name, f"v{wanted}"], env={"PULUMI_HOME": str(cache)})
        except Problem:
            refused.parent.mkdir(parents=True, exist_ok=True)
            refused.touch()
            return False
    link = home / "plugins" / folder
    link.parent.mkdir(parents=True, exist_ok=True)
    if not link.exists():
        link.symlink_to(cache / "plugins" / folder)
    return True


def _download_home() -> Path:
    return paths.tools() / f"pulumi-{golang.PULUMI.version}-official"


def download() -> bool:
    """Try the official archive. A site that does not answer is no error: there is another way."""
    machine = {"x86_64": "x64", "aarch64": "arm64"}.get(platform.machine(), platform.machine())
    site = os.environ.get("SLIPWAY_PULUMI_DOWNLOADS", DOWNLOADS)
    url = f"{site}/pulumi-{golang.PULUMI.version}-linux-{machine}.tar.gz"
    home = _download_home()
    with only_one(paths.locks() / "pulumi-download", "downloading pulumi"):
        if home.exists():
            return True
        scratch = home.with_suffix(".part")
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        try:
            with (
                step(f"pulumi {golang.PULUMI.version}: asking for the official download"),
                urllib.request.urlopen(url, timeout=DOWNLOAD_SECONDS) as answer,  # noqa: S310 -- a fixed https address
                (scratch / "archive").open("wb") as archive,
            ):
                shutil.copyfileobj(answer, archive)
            run(["tar", "-xzf", scratch / "archive", "-C", scratch])
            (scratch / "pulumi").rename(home)
        except (urllib.error.URLError, OSError, Problem) as error:
            say(f"  pulumi: the official download does not answer ({_short(error)}); building it instead")
            return False
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return True


def _short(error: BaseException) -> str:
    return str(getattr(error, "reason", error)).splitlines()[0][:80]
