"""Type tokens of the Kubernetes SDK, and what can be said about kinds without asking a server."""

from lab.plugins.kubernetes.objects import Object, group_of, kind_of

_OUT_OF_SCOPE = {
    "helm.sh": "Helm releases and charts",
    "kustomize": "Kustomize directories",
    "yaml": "YAML files and groups",
}

_OUTSIDE_NAMESPACES = {
    ("", "Namespace"),
    ("", "Node"),
    ("", "PersistentVolume"),
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
    ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
    ("apiextensions.k8s.io", "CustomResourceDefinition"),
    ("apiregistration.k8s.io", "APIService"),
    ("certificates.k8s.io", "CertificateSigningRequest"),
    ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
    ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
    ("networking.k8s.io", "IngressClass"),
    ("node.k8s.io", "RuntimeClass"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("resource.k8s.io", "DeviceClass"),
    ("scheduling.k8s.io", "PriorityClass"),
    ("storage.k8s.io", "CSIDriver"),
    ("storage.k8s.io", "CSINode"),
    ("storage.k8s.io", "StorageClass"),
    ("storage.k8s.io", "VolumeAttachment"),
}


class OutOfScope(Exception):  # noqa: N818
    """A type that only the real provider plugin has."""


def of_token(token: str) -> tuple[str, str]:
    """`kubernetes:apps/v1:StatefulSet` as ("apps/v1", "StatefulSet")."""
    _, module, kind = token.split(":", 2)
    return module.removeprefix("core/"), kind


def check_scope(token: str, inputs: Object) -> None:
    """Raise `OutOfScope` for what is no plain API object."""
    module, kind = of_token(token)
    real = "it needs the real provider plugin, pulumi-resource-kubernetes"
    if what := _OUT_OF_SCOPE.get(module.partition("/")[0]):
        raise OutOfScope(f"{token}: {what} are not supported by the lab's Kubernetes plugin; {real}")
    if kind.endswith("Patch") and kind == f"{kind_of(inputs)}Patch":
        raise OutOfScope(f"{token}: Patch resources are not supported by the lab's Kubernetes plugin; {real}")
    if kind.endswith("List") and isinstance(inputs.get("items"), list):
        raise OutOfScope(f"{token}: a list is no object of its own; declare each of its items as a resource")


def may_have_namespace(obj: Object) -> bool:
    """A guess for when the server cannot be asked: a kind that nobody knows is taken to live in a namespace."""
    return (group_of(obj), kind_of(obj)) not in _OUTSIDE_NAMESPACES
