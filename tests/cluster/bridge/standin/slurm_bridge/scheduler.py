"""The scheduler: a pod is a job that waits in Slurm's queue, and runs where Slurm has put that."""

import json
import math
from pathlib import Path
from typing import Any

import yaml

from slurm_bridge.kube import Kube, Lease
from slurm_bridge.names import CHOSEN_NODE, FINALIZER, JOB_ID, SUBMIT, TAINT, in_slurm, toleration
from slurm_bridge.serving import made_up, serve
from slurm_bridge.slurm import AT_WORK, Slurm

CONFIG = Path("/etc/kubernetes/scheduler-config.yaml")
Pod = dict[str, Any]


class Scheduler:
    def __init__(self, config: dict[str, Any]) -> None:
        own = yaml.safe_load(CONFIG.read_text())
        [profile] = own["profiles"]
        assert profile["schedulerName"] == config["schedulerName"], "both files name one scheduler"
        enabled = [each["name"] for point in profile["plugins"].values() for each in point.get("enabled", [])]
        assert "SlurmBridge" in enabled, enabled
        self.config, self.kube, self.slurm = config, Kube(), Slurm(config["slurmRestApi"])
        election = own["leaderElection"]
        self.lease = Lease(self.kube, election["resourceNamespace"], election["resourceName"])
        self.elects = election["leaderElect"]
        serve(10259, context=made_up())

    def step(self) -> None:
        if self.elects and not self.lease.held():
            return
        name = self.config["schedulerName"]
        waiting = f"spec.schedulerName={name},spec.nodeName=,status.phase=Pending"
        for pod in self.kube.list("/api/v1/pods", fieldSelector=waiting):
            if "deletionTimestamp" not in pod["metadata"]:
                self.schedule(pod)

    def schedule(self, pod: Pod) -> None:
        path = f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        tolerated = pod["spec"].get("tolerations", [])
        if not any(each.get("key") == TAINT for each in tolerated):
            more = [*tolerated, toleration(self.config["schedulerName"])]
            self.kube.patch(path, {"spec": {"tolerations": more}})
        number = pod["metadata"].get("labels", {}).get(JOB_ID)
        job = self.slurm.job(number) if number else None
        if job is None or not AT_WORK & set(job["job_state"]):
            number = str(self.slurm.submit(self.job_of(pod)))
            finalizers = sorted({*pod["metadata"].get("finalizers", []), FINALIZER})
            self.kube.patch(path, {"metadata": {"labels": {JOB_ID: number}, "finalizers": finalizers}})
            self.kube.event(pod, "Submitted", f"Slurm job {number}")
        elif "RUNNING" in job["job_state"] and job["nodes"]:
            self.bind(pod, path, job["nodes"])

    def bind(self, pod: Pod, path: str, chosen: str) -> None:
        nodes = {in_slurm(each): each["metadata"]["name"] for each in self.kube.list("/api/v1/nodes")}
        node = nodes[chosen]
        self.kube.patch(path, {"metadata": {"annotations": {CHOSEN_NODE: node}}})
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        name = pod["metadata"]["name"]
        binding = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        self.kube.call("POST", f"{path}/binding", binding)
        self.kube.event(pod, "Scheduled", f"Slurm chose {chosen}")

    def job_of(self, pod: Pod) -> dict[str, Any]:
        """What Slurm Bridge 1.2 submits for a pod: an external job, which nobody but Slurm's queue knows of."""
        meta, told = pod["metadata"], self.annotations(pod)
        pods = {"pods": [f"{meta['namespace']}/{meta['name']}"]}
        job: dict[str, Any] = {
            "name": told.get("job-name", meta["name"]),
            "partition": told.get("partition", self.config["partition"]),
            "mcs_label": self.config["mcsLabel"],
            "admin_comment": json.dumps(pods, separators=(",", ":")),
            "current_working_directory": "/tmp",
            "flags": ["EXTERNAL_JOB"],
            "nodes": "1",
            "tasks_per_node": 1,
            "cpus_per_task": max(1, math.ceil(asked(pod, "cpu"))),
        }
        if memory := asked(pod, "memory"):
            job["memory_per_node"] = {"set": True, "number": math.ceil(memory / 2**20)}
        if told.get("exclusive") != "false":
            job["shared"] = ["none"]
        if "timelimit" in told:
            job["time_limit"] = {"set": True, "number": int(told["timelimit"])}
        return job

    def annotations(self, pod: Pod) -> dict[str, str]:
        """Those of the Job that owns the pod, if one does; else its own."""
        found = pod
        for owner in pod["metadata"].get("ownerReferences", []):
            if owner["kind"] == "Job":
                found = self.kube.get(f"/apis/batch/v1/namespaces/{pod['metadata']['namespace']}/jobs/{owner['name']}")
        written = found["metadata"].get("annotations", {})
        return {key.removeprefix(SUBMIT): value for key, value in written.items() if key.startswith(SUBMIT)}


UNITS = {"m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def asked(pod: Pod, resource: str) -> float:
    """How much of it all containers of the pod ask for."""
    quantities = [
        each.get("resources", {}).get("requests", {}).get(resource, "0") for each in pod["spec"]["containers"]
    ]
    return sum(quantity(each) for each in quantities)


def quantity(text: str) -> float:
    digits = text.rstrip("mkMGKi")
    return float(digits) * UNITS.get(text[len(digits) :], 1)
