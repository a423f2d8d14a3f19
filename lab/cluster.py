"""The lab's Kubernetes: from nothing, or from whatever an interrupted run left, to nodes that are Ready; and away."""

import dataclasses
import shutil
import string
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from lab import cgroups, daemons, debian, golang, images, layout, machine, network, paths, preflight, store
from lab.layout import Lab, Node
from lab.locks import only_one
from lab.pki import Authority, kubeconfig
from lab.problem import Problem
from lab.progress import Step, step
from lab.run import run

START_SECONDS = 300.0


def lock(name: str):
    """Whoever changes lab `name` holds this."""
    return only_one(paths.locks() / f"lab-{name}", f"lab {name}")


def running(lab: Lab) -> bool:
    return any(machine.process(lab, node) for node in lab.nodes)


def claim(name: str, compute: int, *marks: str) -> Lab:
    """The lab of that name, with its place on this machine. All that could be in the way is checked before. A mark is
    a file in the lab's home that is there before its record, and so whenever there is a record."""
    with only_one(paths.locks() / "places", "choosing a place for a lab"):
        lab = layout.choose(name, compute, network.taken_elsewhere())
        preflight.check(lab, tools=_needed(images.Builder()), running=running(lab))
        if not layout.find(name):
            _clear(name)  # what an interrupted start left without a record
        lab.home.mkdir(parents=True, exist_ok=True)
        for mark in marks:
            (lab.home / mark).touch()
        lab.save()
    return lab


def tools(*, enforcing: bool = False) -> tuple[daemons.Programs, list[images.Image]]:
    """The programs and images without which no node starts: installed, unpacked or built, each once."""
    builder = images.Builder()
    debian.install(debian.missing(_needed(builder)))
    return _programs(enforcing=enforcing), _basic_images(builder)


def _programs(*, enforcing: bool) -> daemons.Programs:
    policies = golang.build(golang.NETWORK_POLICIES) if enforcing else None
    return daemons.Programs(golang.build(golang.KUBERNETES), debian.unpack(), _around(golang.PAUSE).reference, policies)


def up(lab: Lab) -> None:
    """Bring every node up and wait until all are Ready. Nodes that run already are left alone."""
    programs, basic = tools(enforcing=lab.enforces)
    needed = [*basic, *_our_images()]
    if not all(_containerd(lab, node).exists() for node in lab.nodes):
        store.add(needed)
    with step("Kubernetes: starting nodes", quiet_below=1.0) as doing:
        network.plug_in(lab)
        authority = Authority(lab.home / "pki")
        admin = authority.issue("admin", "slipway-admin", "system:masters")
        kubeconfig(lab, authority, lab.kubeconfig, *admin)
        for node in lab.nodes:
            if not (machine.process(lab, node) and network.connected(lab, node)):
                _start(lab, node, authority, programs)
        _wait(lab, doing, "the API server", lambda: kubectl(lab, "get", "--raw=/readyz"))
        _wait(lab, doing, "containerd", lambda: [_ctr(lab, node, "version") for node in _on(lab)])
    images.load(lab, needed, ctr())
    with step("Kubernetes: waiting for Ready nodes", quiet_below=1.0) as doing:
        _addons(lab, {image.name: image.reference for image in basic})
        wanted = [f"node/{node.name}" for node in lab.nodes]
        _wait(lab, doing, "nodes", lambda: kubectl(lab, "get", *wanted))
        kubectl(lab, "label", "--overwrite", f"node/{lab.control_plane.name}", f"{daemons.CONTROL_PLANE_TAINT}=")
        _wait(lab, doing, "nodes", lambda: kubectl(lab, "wait", "--for=condition=Ready", "--timeout=1s", *wanted))
        dns = ["rollout", "status", "deployment/coredns", "-n", "kube-system", "--timeout=1s"]
        _wait(lab, doing, "CoreDNS", lambda: kubectl(lab, *dns))
        if lab.enforces:
            rules = ["nft", "list", "table", "ip", "network-policies"]
            _wait(
                lab, doing, "network policies", lambda: [run([*machine.enter(lab, each), *rules]) for each in _on(lab)]
            )


def down(name: str) -> None:
    """Take lab `name` away, in whatever state it is."""
    _clear(name)
    store.forget()


def start(lab: Lab, node: Node) -> None:
    """Switch one node on again, with the images that were built while it was off."""
    if machine.process(lab, node):
        return
    _start(lab, node, Authority(lab.home / "pki"), _programs(enforcing=lab.enforces))
    with step(f"node {node.name}: starting", quiet_below=2.0) as doing:
        _wait(lab, doing, "containerd", lambda: _ctr(lab, node, "version"), nodes=[node])
    built = [image for image in images.ours() if image.archive.exists()]
    images.load(lab, [*_basic_images(images.Builder()), *built], ctr())


def _start(lab: Lab, node: Node, authority: Authority, programs: daemons.Programs) -> None:
    machine.stop(lab, node)  # of a start that was cut short
    store.seed(_containerd(lab, node))
    setup = daemons.setup(lab, node, authority, programs)
    own = f"{programs.debian}/usr/bin:{programs.debian}/usr/sbin"
    machine.start(lab, node, setup, f"{own}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")


def _containerd(lab: Lab, node: Node) -> Path:
    """The root of the node's containerd, as this machine sees it."""
    return machine.home(lab, node) / "disk" / "containerd"


def kubectl(lab: Lab, *words: str, stdin: str | None = None) -> str:
    argv = [golang.KUBERNETES.home / "kubectl", "--kubeconfig", lab.kubeconfig, *words]
    return run(argv, stdin=stdin, env={"KUBECACHEDIR": str(lab.home / "kubectl")})


def _needed(builder: images.Builder) -> dict[str, str]:
    return {**debian.BASIC_TOOLS, **(debian.BUILD_TOOLS if builder.needs_buildah else {})}


def _around(program: golang.Program) -> images.Image:
    """The image that holds one program from the cache. Another program, another tag."""
    recipe = paths.CHECKOUT / "lab" / "images" / program.name
    tag = f"{program.home.name.removeprefix(f'{program.name}-')}-{images.digest(recipe)}"
    return images.Image(program.name, recipe / "Containerfile", recipe, tag)


def _basic_images(builder: images.Builder) -> list[images.Image]:
    """The images without which no pod starts."""
    made = []
    for program in (golang.PAUSE, golang.COREDNS):
        image = _around(program)
        if not image.archive.exists():
            binary = golang.build(program) / program.name
            with tempfile.TemporaryDirectory(dir=paths.tools(), prefix=".image-") as scratch:
                shutil.copy2(binary, scratch)
                builder.build(dataclasses.replace(image, context=Path(scratch)))
        made.append(image)
    return made


def _our_images() -> list[images.Image]:
    builder, ours = images.Builder(), images.ours()
    for image in ours:
        builder.build(image)
    return ours


def _addons(lab: Lab, references: dict[str, str]) -> None:
    template = string.Template((Path(__file__).parent / "addons.yaml").read_text())
    kubectl(lab, "apply", "-f", "-", stdin=template.substitute(references, dns=lab.dns))


def _on(lab: Lab) -> list[Node]:
    return [node for node in lab.nodes if machine.process(lab, node)]


def ctr() -> Path:
    return debian.daemons() / "usr/bin/ctr"


def tag(lab: Lab, node: Node, image: str, another: str) -> None:
    """Another name for an image on a node, as if it were another version."""
    _ctr(lab, node, "--namespace", "k8s.io", "images", "tag", "--force", image, another)


def _ctr(lab: Lab, node: Node, *words: str) -> str:
    return run([*machine.enter(lab, node), ctr(), *words])


def _wait(lab: Lab, doing: Step, what: str, attempt: Callable[[], object], nodes: list[Node] | None = None) -> None:
    """Try until it works; a node that went away meanwhile, or too long a wait, ends it with a message."""
    deadline = time.monotonic() + START_SECONDS
    doing.detail = f"waiting for {what}"
    while True:
        try:
            attempt()
            return
        except Problem as problem:
            off = [node for node in nodes or lab.nodes if not machine.process(lab, node)]
            if off:
                log = machine.home(lab, off[0]) / "node.log"
                raise Problem(f"Node {off[0].name} ended while it started:\n{log.read_text()[-800:]}") from problem
            if time.monotonic() > deadline:
                logs = lab.home / "nodes/<node>/log/slipway"
                raise Problem(
                    f"No {what} within {START_SECONDS:.0f} s. The daemons' logs: {logs}\n{problem}"
                ) from problem
        time.sleep(0.1)


def _clear(name: str) -> None:
    """Remove everything of lab `name`, also if its record is lost."""
    home = paths.labs() / name
    machine.kill(home)
    for bridge in network.bridges(home):
        cgroups.remove(bridge)
        network.remove(bridge)
    if home.exists():
        # The record goes last, so that a removal that is cut short is taken up again.
        for entry in home.iterdir():
            if entry.name != "lab.json":
                shutil.rmtree(entry) if entry.is_dir() else entry.unlink()
        shutil.rmtree(home)


def state(lab: Lab) -> str:
    """What `lab status` prints."""
    if not running(lab):
        return f"Lab {lab.name} is down."
    try:
        return kubectl(lab, "get", "nodes", "-o", "wide")
    except (Problem, subprocess.SubprocessError) as problem:
        return f"Lab {lab.name} runs, but its API server does not answer: {problem}"
