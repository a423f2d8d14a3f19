"""A cluster behind kubectl, in memory: ConfigMaps, pods, StatefulSets, and a slurmctld in the pod `controller-0`.

It knows the scripts that `operations` sends by their text, and does what they would do. `done` lists what was done to
it, in order; questions are not in it."""

import base64
import itertools
import json
import re
import subprocess
from typing import Any

from operations import accounts, act, apply, draining, nodes, push, rehearse, roll, shown, slurmdbd
from operations.digest import digest
from slurm.hostlist import expand
from tests.unit.operations.clock import Clock
from tests.unit.operations.slurmctld import Slurmctld
from tests.unit.operations.slurmdbd import Slurmdbd

Done = subprocess.CompletedProcess[str]
Pod = dict[str, Any]

ARRIVAL = 0.5  # files, after the pod was touched
START = 3.0  # a pod, after its predecessor is gone
PING = act.PING
SERVING = ("controller", "accounting")
REFUSED = 99  # by sacctmgr, whose words and number are behind each other
STAGED = re.compile(r"echo (\S*) \| base64 -d > etc/(\S+)")


class Kubernetes:
    """`rejects` is a text that no rehearsed file may have. `skew` is how far its clock is ahead of ours."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.reachable = True
        self.unreachable = "Unable to connect to the server: no such host\n"
        self.rejects = ""
        self.skew = 0.0
        self.controller = True
        self.kinds: list[str] | None = []  # of other people's APIs; None where it does not tell
        self.config_maps: dict[str, dict[str, str]] = {}
        self.mounted: dict[str, str] = {}
        self.slurm = Slurmctld()
        self.slurmdbd = Slurmdbd()
        self.charged: list[str] = []  # jobs, by what they are charged to
        self.pods: dict[str, Pod] = {}
        self.sets: dict[str, dict[str, Any]] = {"controller": _stateful_set("controller")}
        self.done: list[str] = []
        self.away: list[int] = []
        self._uids = itertools.count(1)

    def deploy(self, files: dict[str, str], names: str, verified: bool = True) -> None:
        """As an update that went well has left it, some time ago."""
        self.config_maps["slurm-config"] = dict(files)
        if verified:
            self.config_maps["slurm-applied"] = {"applied": json.dumps(files), "since": "0"}
        self.mounted = dict(files)
        self.start("controller-0")
        for name in expand(names):
            self.sets.setdefault(name.rpartition("-")[0], _stateful_set(name.rpartition("-")[0]))
            self.start(name)
        self.slurm.read(files, self.clock.written())
        for name in expand(names):
            self.slurm.register(name, self.clock.written(), dynamic=name not in self.slurm.nodes)
        self.clock.sleep(100)

    def deploy_accounting(self) -> None:
        self.sets["accounting"] = _stateful_set("accounting")
        self.start("accounting-0")

    def start(self, name: str, ready: bool = True) -> None:
        node_set = name.rpartition("-")[0]
        revision = self.sets[node_set]["status"]["updateRevision"] if node_set in self.sets else ""
        whose = "app.kubernetes.io/name" if node_set in SERVING else "slipway/node-set"
        labels = {"controller-revision-hash": revision, whose: node_set}
        created = f"{self.clock.written(self.skew)}Z"
        metadata = {"name": name, "uid": f"uid-{next(self._uids)}", "labels": labels, "creationTimestamp": created}
        self.pods[name] = {"metadata": metadata, "status": _status(ready)}
        if name == "controller-0":
            self.mounted = dict(self.config_maps["slurm-config"])
            self.slurm.up = True
        elif name in self.slurm.nodes:
            self.slurm.register(name, self.clock.written())

    @property
    def record(self) -> dict[str, Any]:
        """What the cluster remembers of itself."""
        data = self.config_maps.get("slurm-applied", {})
        return {key: json.loads(value) for key, value in data.items()}

    def run(self, argv: list[str], input: str | None = None, **options: Any) -> Done:  # noqa: A002 -- subprocess' name
        """In place of `subprocess.run`."""
        assert argv[:3] == ["kubectl", "--namespace", "science"], argv
        self.clock.sleep(0.01)
        if not self.reachable:
            return Done(argv, 1, "", self.unreachable)
        match argv[3:]:
            case ["exec", "-i", "controller-0", "-c", container, "--", "sh", "-s", *words]:
                code, out = self._controller(container, input or "", words)
            case ["exec", "-i", "accounting-0", "-c", "slurmdbd", "--", "sh", "-s", *words]:
                code, out = self._slurmdbd(input or "", words)
            case ["get", "configmap", name, *words]:
                code, out = self._config_map(name, "--ignore-not-found" in words)
            case ["get", "pod", name, "--output", "jsonpath={.metadata.uid}", *_]:
                code, out = 0, self.pods[name]["metadata"]["uid"] if name in self.pods else ""
            case ["get", "statefulset", "controller", "--ignore-not-found", "--output", "name"]:
                code, out = 0, "statefulset.apps/controller\n" if self.controller else ""
            case ["get", "--raw", path, *_]:
                code, out = self._api(path)
            case ["get", kind, "--selector", selector, "--output", "json"]:
                code, out = 0, self._list(kind, selector)
            case ["apply", *_] | ["patch", *_]:
                code, out = 0, self._write(argv[3:], json.loads(input or ""))
            case ["exec", "-i", "controller-1", *_]:
                code, out = 1, 'Error from server (NotFound): pods "controller-1" not found'
            case ["annotate", "pods", "--selector", "app.kubernetes.io/name=controller", _, "--overwrite"]:
                code, out = self._touch()
            case ["delete", "pod", *words]:
                code, out = 0, self._delete([word for word in words if not word.startswith("--")])
            case ["logs", "controller-0", *_]:
                code, out = 0, "\n".join(self.slurm.log)
            case words:
                raise AssertionError(f"kubectl {' '.join(words)} is nothing that this cluster knows")
        if code == REFUSED:
            return Done(argv, 1, *out.split("\0"))
        return Done(argv, code, out if code in (0, 3, 4) else "", out if code else "")

    def _config_map(self, name: str, missing_is_fine: bool) -> tuple[int, str]:
        if name in self.config_maps:
            return 0, json.dumps({"metadata": {"name": name}, "data": self.config_maps[name]})
        return (0, "") if missing_is_fine else (1, f'configmaps "{name}" not found')

    def _api(self, path: str) -> tuple[int, str]:
        if self.kinds is None:
            return 1, "Error from server (ServiceUnavailable): the server is currently unable to handle the request"
        if not self.kinds:
            return 1, "Error from server (NotFound): the server could not find the requested resource"
        kinds = [{"kind": kind, "name": kind.lower()} for kind in self.kinds]
        return 0, json.dumps({"kind": "APIResourceList", "groupVersion": path, "resources": kinds})

    def _write(self, words: list[str], what: Any) -> str:
        if words[0] == "apply":
            name, data = what["metadata"]["name"], what["data"]
        else:
            [change] = what
            assert (words[1], change["op"], change["path"]) == ("configmap", "replace", "/data"), words
            name, data = words[2], change["value"]
        self.config_maps[name] = data
        kept = f"record {' '.join(key for key in data if key != 'since')}"
        self.done.append(kept if name == "slurm-applied" else f"write {name}")
        return ""

    def _touch(self) -> tuple[int, str]:
        if "controller-0" not in self.pods:
            return 0, ""
        touched = self.pods["controller-0"]

        def arrive() -> None:
            if self.pods.get("controller-0") is touched:
                self.mounted = dict(self.config_maps["slurm-config"])

        self.clock.after(ARRIVAL, arrive)
        return 0, "pod/controller-0 annotated\n"

    def _delete(self, names: list[str]) -> str:
        self.done.append(f"delete {' '.join(names)}")
        for name in names:
            del self.pods[name]
            if name == "controller-0":
                self.slurm.up = False
            else:
                self.slurm.lost += [job.number for job in self.slurm.jobs if name in expand(job.nodes)]
                self.slurm.nodes[name].states.add("NOT_RESPONDING")
            self.clock.after(START, lambda name=name: self.start(name))
        self.away.append(len(names))
        self.clock.sleep(1)
        return ""

    def _list(self, kind: str, selector: str) -> str:
        key, _, value = selector.partition("=")
        assert kind in ("statefulsets", "pods")
        assert key in ("slipway/node-set", "app.kubernetes.io/name")
        found = self.sets if kind == "statefulsets" else self.pods
        labels = {name: each["metadata"]["labels"].get(key) for name, each in found.items()}
        chosen = [each for name, each in found.items() if labels[name] and value in ("", labels[name])]
        return json.dumps({"items": chosen})

    def _controller(self, container: str, script: str, words: list[str]) -> tuple[int, str]:
        if "controller-0" not in self.pods:
            return 1, 'pods "controller-0" not found'
        if container == "rehearsal":
            return self._rehearse(script, words)
        assert container == "slurmctld"
        if script == push.LOOK:
            return self._look(*words)
        if not self.slurm.up:
            return 1, "slurm_load error: Unable to contact slurm controller"
        slurm, now = self.slurm, self.clock.written()
        match script, words:
            case (act.RECONFIGURE, []):
                self.done.append("reconfigure")
                return 0, f"{now}\n{slurm.reconfigure(self.mounted, now)}"
            case (shown.SHOW, []):
                return 0, slurm.show()
            case (nodes.NODES, []):
                return 0, slurm.show_nodes()
            case (draining.PENDING, []):
                return 0, slurm.pending()
            case (draining.JOBS, [names, partitions, _, _]):
                return 0, slurm.queue(names, partitions)
            case (draining.DRAIN, [names, reason]):
                self.done.append(f"drain {names} {reason}")
                slurm.drain(names, reason)
            case (draining.UNDRAIN, [names]):
                self.done.append(f"undrain {names}")
                slurm.undrain(names)
            case (draining.PARTITIONS, [names, state]):
                for name in names.split(","):
                    self.done.append(f"partition {name} {state}")
                    slurm.partitions[name]["State"] = state
            case (draining.END, [verb, numbers]):
                self.done.append(f"{verb} {numbers}")
                slurm.end(verb, numbers.split())
            case (apply.UNRESOLVED, [names, "science.svc.cluster.local", _]):
                unknown = [name for name in expand(names) if name not in slurm.nodes]
                return 0, "\n".join(sorted(name for name in unknown if name not in self.pods))
            case (accounts.FORGET_NUMBER, []):
                self.done.append("forget the cluster's number")
            case (accounts.QUEUE, []):
                return 0, "\n".join(self.charged)
            case (roll.SETTLE, node_sets):
                self.done.append(f"settle {' '.join(node_sets)}")
            case (text, []) if text == PING:
                pass
            case _:
                return self._live(script)
        return 0, ""

    def _slurmdbd(self, script: str, words: list[str]) -> tuple[int, str]:
        if "accounting-0" not in self.pods:
            return 1, 'pods "accounting-0" not found'
        if not self.slurmdbd.up:
            return 1, "sacctmgr: error: Sending PersistInit msg: Connection refused"
        match script, words:
            case (slurmdbd.SHOW, [_]):
                return 0, self.slurmdbd.show()
            case (accounts.ADD_CLUSTER, [name]):
                self.slurmdbd.add_cluster(name)
                return 0, ""
            case (text, []) if text.startswith("exec 3>&2 2>&1\n"):
                for number, line in enumerate(text.splitlines()[1:]):
                    if refused := self.slurmdbd.sacctmgr(line.removesuffix(f" || {{ echo {number} >&3; exit 1; }}")):
                        return REFUSED, f"{refused}\0{number}\n"
                return 0, ""
            case _:
                raise AssertionError(f"no script that this slurmdbd knows: {script}")

    def _live(self, script: str) -> tuple[int, str]:
        before, after = act.LIVE.split("{}")
        assert script.startswith(before + "scontrol "), f"no script that this cluster knows: {script}"
        for line in script.removeprefix(before).removesuffix(after).splitlines():
            self.done.append(line)
            if self.slurm.refuses and self.slurm.refuses in line:
                return 1, "slurm_update error: Invalid value"
            self.slurm.scontrol(line)
        return 0, ""

    def _look(self, wanted: str, times: str) -> tuple[int, str]:
        pod = self.pods["controller-0"]
        for _ in range(int(times)):
            if self.pods.get("controller-0") is not pod:
                return 137, "command terminated with exit code 137"
            if digest(self.mounted) == wanted:
                return 0, "up" if self.slurm.up else "down"
            self.clock.sleep(0.05)
        return 0, "old"

    def _rehearse(self, script: str, words: list[str]) -> tuple[int, str]:
        files = {name: base64.b64decode(text).decode() for text, name in STAGED.findall(script)}
        assert script == rehearse.REHEARSE % "\n".join(each[0] for each in re.finditer(STAGED, script))
        assert len(words) == 1
        self.done.append("rehearse")
        if self.rejects and self.rejects in files["slurm.conf"]:
            return 3, f"slurmctld: debug: hello\nslurmctld: fatal: {self.rejects} is nothing that I know\n"
        if "syntax error" in files.get("cli_filter.lua", ""):
            return 4, "sbatch: error: cli_filter/lua: cli_filter.lua:1: syntax error near 'x'\n"
        throwaway = Slurmctld()
        throwaway.read(files, self.clock.written())
        return 0, throwaway.show()


def _stateful_set(name: str) -> dict[str, Any]:
    status = {"observedGeneration": 1, "updateRevision": f"{name}-1"}
    labels = {"app.kubernetes.io/name": name} if name in SERVING else {"slipway/node-set": name}
    return {"metadata": {"name": name, "generation": 1, "labels": labels}, "status": status}


def _status(ready: bool) -> dict[str, Any]:
    state = {"running": {}} if ready else {"waiting": {"reason": "ImagePullBackOff"}}
    return {
        "conditions": [{"type": "Ready", "status": str(ready)}],
        "containerStatuses": [{"name": "slurmd", "state": state, "started": "running" in state}],
    }
