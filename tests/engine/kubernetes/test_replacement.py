"""Fields that cannot be changed in place: each of these changes replaces its object, and its neighbour's does not."""

from tests.engine.kubernetes.cluster import Kubectl
from tests.engine.kubernetes.programs import Programs
from tests.engine.project import Project

# Each kind twice: `…-r` changes a field that forces a replacement, `…-u` one that does not.
_PROGRAM = """
    QUIET = {{"pulumi.com/skipAwait": "true"}}
    after = {after}


    def either(old, new):
        return new if after else old


    def twice(kind, short, fields, **changes):
        for suffix, change in (("r", changes["replacing"]), ("u", changes["updating"])):
            spec = {{**fields, **(change if after else {{}})}}
            inside = kind not in ("PriorityClass", "StorageClass", "PersistentVolume")
            name = f"{{short}}-{{suffix}}"
            metadata = meta(name, annotations=QUIET) if inside else dict(name=f"{{NAMESPACE}}-{{name}}")
            top = kind in ("PriorityClass", "StorageClass", "RoleBinding", "ConfigMap", "Secret")
            make(kind, name, metadata, **(spec if top else dict(spec=spec)))


    def selects(app):
        return dict(selector=dict(matchLabels=dict(app=app)), template=pod("sleep 1", "none", labels=dict(app=app)))


    template = pod("sleep 2", "none")
    claim = dict(metadata=dict(name="data"), spec=dict(
        accessModes=["ReadWriteOnce"], resources=dict(requests=dict(storage="1Gi"))))
    larger = dict(claim, spec=dict(claim["spec"], resources=dict(requests=dict(storage="2Gi"))))
    twice("StatefulSet", "sts", dict(replicas=0, serviceName="a", volumeClaimTemplates=[claim], **selects("a")),
          replacing=dict(volumeClaimTemplates=[larger]), updating=dict(replicas=1, minReadySeconds=1))
    twice("StatefulSet", "sts2", dict(replicas=0, serviceName="a", **selects("a")),
          replacing=dict(serviceName="b"), updating=dict(template=pod("sleep 9", "none", labels=dict(app="a"))))
    twice("Deployment", "dep", dict(replicas=0, **selects("a")), replacing=selects("b"), updating=dict(replicas=1))
    twice("DaemonSet", "ds", selects("a"), replacing=selects("b"), updating=dict(minReadySeconds=1))
    job = dict(suspend=True, template=dict(template, spec=dict(template["spec"], restartPolicy="Never")))
    longer = pod("sleep 3", "none")
    twice("Job", "job", job, updating=dict(backoffLimit=1), replacing=dict(
        template=dict(longer, spec=dict(longer["spec"], restartPolicy="Never"))))
    own = dict(containers=[dict(name="main", image="none")], nodeSelector=dict(nowhere="true"))
    twice("Pod", "pod", own, replacing=dict(containers=[dict(name="main", image="other")]),
          updating=dict(tolerations=[dict(key="k", operator="Exists")]))
    twice("PersistentVolumeClaim", "pvc", dict(claim["spec"], storageClassName="none"), replacing=dict(
        storageClassName="other"), updating=dict())
    twice("PersistentVolume", "pv", dict(
        capacity=dict(storage="1Gi"), accessModes=["ReadWriteOnce"], hostPath=dict(path="/tmp/a"),
        storageClassName="unclaimed"), replacing=dict(hostPath=dict(path="/tmp/b")), updating=dict(
        persistentVolumeReclaimPolicy="Delete"))
    twice("Service", "svc", dict(ports=[dict(port=80)]), replacing=dict(clusterIP="None"), updating=dict(
        ports=[dict(port=81)]))
    role = dict(apiGroup="rbac.authorization.k8s.io", kind="ClusterRole", name="view")
    nobody = [dict(kind="User", name="nobody", apiGroup="rbac.authorization.k8s.io")]
    twice("RoleBinding", "rb", dict(roleRef=role, subjects=nobody), replacing=dict(roleRef=dict(role, name="edit")),
          updating=dict(subjects=nobody * 2))
    twice("PriorityClass", "pc", dict(value=1), replacing=dict(value=2), updating=dict(description="more"))
    twice("StorageClass", "sc", dict(provisioner="none"), replacing=dict(provisioner="other"),
          updating=dict(allowVolumeExpansion=True))
    twice("Secret", "sec", dict(type="example.com/a", stringData=dict(key="1")), replacing=dict(type="example.com/b"),
          updating=dict(stringData=dict(key="2")))
    twice("ConfigMap", "cm", dict(data=dict(key="1")), replacing=dict(immutable=True, data=dict(key="2")),
          updating=dict(binaryData=dict(key2="AAAA")))
"""
_SHORT = ["sts", "sts2", "dep", "ds", "job", "pod", "pvc", "pv", "svc", "rb", "pc", "sc", "sec", "cm"]


def test_fields_that_cannot_be_changed_replace_the_object_and_others_do_not(
    project: Project, write: Programs, kubectl: Kubectl
) -> None:
    mutable = {"enable_config_map_mutable": True, "enable_secret_mutable": True}
    write(_PROGRAM.format(after=False), provider=mutable)
    project.up()
    write(_PROGRAM.format(after=True), provider=mutable)
    shown = project.preview()
    wrong = {f"{name}-r": shown.operation(f"{name}-r") for name in _SHORT}
    assert set(wrong.values()) == {"replace"}, wrong
    wrong = {f"{name}-u": shown.operation(f"{name}-u") for name in _SHORT if name != "pvc"}
    assert set(wrong.values()) == {"update"}, wrong
    assert shown.operation("pvc-u") == "same"

    # The plan holds: the API server accepts every one of the updates, and what was replaced is there again.
    project.up()
    again = project.up()
    assert {again.operation(f"{name}-{suffix}") for name in _SHORT for suffix in "ru"} == {"same"}
    live = kubectl.get("statefulset", "sts-r")
    assert live
    assert live["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] == "2Gi"
    project.destroy()
