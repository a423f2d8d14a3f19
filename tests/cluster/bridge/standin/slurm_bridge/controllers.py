"""The controllers: Slurm has the nodes that Kubernetes offers it, and pods and jobs end together."""

import json
from typing import Any

from slurm_bridge.kube import Kube, Lease
from slurm_bridge.names import EXTERNAL, FINALIZER, JOB_ID, PARTITIONS, REASON, TAINT, in_slurm, taint
from slurm_bridge.scheduler import quantity
from slurm_bridge.serving import serve
from slurm_bridge.slurm import AT_WORK, Slurm

LEASE = "69d5fe47.my.slinky.slurm.net"  # written in the program, not configured
ENDED = ("Succeeded", "Failed")
BUSY = {"ALLOCATED", "MIXED", "COMPLETING"}
Object = dict[str, Any]


class Controllers:
    def __init__(self, config: Object, elects: bool, namespace: str) -> None:
        self.scheduler, self.kube, self.slurm = config["schedulerName"], Kube(), Slurm(config["slurmRestApi"])
        self.elects, self.lease = elects, Lease(self.kube, namespace, LEASE)
        serve(8081)
        serve(8080)

    def step(self) -> None:
        if self.elects and not self.lease.held():
            return
        for node in self.kube.list("/api/v1/nodes"):
            self.register(node)
            self.mark(node)
        pods = self.kube.list("/api/v1/pods", fieldSelector=f"spec.schedulerName={self.scheduler}")
        for pod in pods:
            self.end(pod, pods)
        self.cancel_left_over({f"{each['metadata']['namespace']}/{each['metadata']['name']}" for each in pods})

    def register(self, node: Object) -> None:
        """A labelled node is one of Slurm's. One that no longer is goes when its jobs are through."""
        name = in_slurm(node)
        there = self.slurm.nodes().get(name)
        if EXTERNAL in node["metadata"].get("labels", {}):
            if there is None:
                self.slurm.create_node(self.line(node, name))
        elif there and "EXTERNAL" in there["state"]:
            if "DRAIN" not in there["state"]:
                self.slurm.update_node(name, state=["DRAIN"], reason=f"{REASON} removing external node {name}")
            elif not BUSY & set(there["state"]):
                self.slurm.delete_node(name)

    def line(self, node: Object, name: str) -> str:
        has = node["status"]["capacity"]
        line = f"NodeName={name} Sockets=1 CoresPerSocket={has['cpu']} ThreadsPerCore=1 CPUs={has['cpu']}"
        line += f" RealMemory={int(quantity(has['memory']) / 2**20)} State=External"
        partitions = node["metadata"].get("annotations", {}).get(PARTITIONS, "").split(",")
        for each in partitions:
            assert not each or self.slurm.has_partition(each), f"node {name}: Slurm has no partition {each}"
        return f"{line} Feature={','.join(partitions)}" if any(partitions) else line

    def mark(self, node: Object) -> None:
        """A node that Slurm has, too, takes only pods that know of it; one that is cordoned takes no jobs either."""
        name, path = in_slurm(node), f"/api/v1/nodes/{node['metadata']['name']}"
        there = self.slurm.nodes().get(name)
        taints = node["spec"].get("taints", [])
        others = [each for each in taints if each["key"] != TAINT]
        if bool(there) == (taints == others):
            self.kube.patch(path, {"spec": {"taints": [*others, *([taint(self.scheduler)] if there else [])]}})
        if there is None:
            return
        cordoned, drained = node["spec"].get("unschedulable", False), "DRAIN" in there["state"]
        if cordoned and not drained:
            self.slurm.update_node(name, state=["DRAIN"], reason=f"{REASON} {name} is unschedulable")
        elif drained and not cordoned and there["reason"].startswith(f"{REASON} {name} is un"):
            self.slurm.update_node(name, state=["UNDRAIN"], reason=f"{REASON} {name} is schedulable")

    def end(self, pod: Object, pods: list[Object]) -> None:
        meta, phase = pod["metadata"], pod["status"]["phase"]
        number = meta.get("labels", {}).get(JOB_ID)
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}"
        if number is None:
            return
        if phase in ENDED and FINALIZER in meta.get("finalizers", []):
            mates = [each for each in pods if each["metadata"].get("labels", {}).get(JOB_ID) == number]
            if all(each["status"]["phase"] in ENDED for each in mates) and self.at_work(number):
                self.slurm.cancel(number)
            self.kube.patch(path, {"metadata": {"$deleteFromPrimitiveList/finalizers": [FINALIZER]}})
        elif phase == "Running" and "deletionTimestamp" not in meta:
            job = self.slurm.job(number)
            if job is None or "RUNNING" not in job["job_state"]:
                print(f"job {number} is no more: {path} goes")
                self.kube.call("DELETE", path)

    def at_work(self, number: str) -> bool:
        job = self.slurm.job(number)
        return bool(job and AT_WORK & set(job["job_state"]))

    def cancel_left_over(self, there: set[str]) -> None:
        """Jobs of pods that are gone."""
        for job in self.slurm.jobs():
            try:
                pods = json.loads(job["admin_comment"])["pods"]
            except (ValueError, TypeError, KeyError):
                continue
            if AT_WORK & set(job["job_state"]) and not there & set(pods):
                self.slurm.cancel(str(job["job_id"]))
