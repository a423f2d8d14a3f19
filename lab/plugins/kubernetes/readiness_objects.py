"""When other kinds are ready: Service, Ingress, volumes, CustomResourceDefinitions and the kinds that they define."""

from lab.plugins.kubernetes.discovery import ENDPOINT_SLICES, STORAGE_CLASSES
from lab.plugins.kubernetes.objects import Object, conditions_of, dig, name_of
from lab.plugins.kubernetes.verdict import READY, Readiness, Selection, Verdict, failed, observed, waiting


def _endpoint_slices(service: Object) -> Selection | None:
    if not _needs_endpoints(service):
        return None
    return Selection(ENDPOINT_SLICES, {"labelSelector": f"kubernetes.io/service-name={name_of(service)}"})


def _needs_endpoints(service: Object) -> bool:
    """A headless Service is a DNS name only, and one without selector gets its endpoints from somebody else."""
    spec = dig(service, "spec", default={})
    headless = spec.get("clusterIP") == "None"
    return bool(spec.get("selector")) and not headless and spec.get("type") != "ExternalName"


def _service(obj: Object, slices: list[Object]) -> Verdict:
    if _needs_endpoints(obj):
        endpoints = [endpoint for item in slices for endpoint in item.get("endpoints") or []]
        # A missing `ready` means ready, says the API.
        if not any(dig(endpoint, "conditions", "ready", default=True) for endpoint in endpoints):
            return waiting("[1/2] waiting for a ready pod that matches spec.selector")
    if dig(obj, "spec", "type") == "LoadBalancer" and not dig(obj, "status", "loadBalancer", "ingress"):
        return waiting("[2/2] waiting for the load balancer's address")
    return READY


def _ingress(obj: Object, _: list[Object]) -> Verdict:
    if dig(obj, "status", "loadBalancer", "ingress"):
        return READY
    return waiting("[1/1] waiting for an Ingress controller to publish an address")


def _storage_class(_: Object) -> Selection | None:
    return Selection(STORAGE_CLASSES)


def _claim(obj: Object, classes: list[Object]) -> Verdict:
    wanted = dig(obj, "spec", "storageClassName")
    chosen = next((item for item in classes if name_of(item) == wanted), {})
    if chosen.get("volumeBindingMode") == "WaitForFirstConsumer" and not dig(obj, "spec", "volumeName"):
        return READY  # its class waits for the first pod that uses it, so waiting here would be for nothing
    match dig(obj, "status", "phase", default="Pending"):
        case "Bound":
            return READY
        case "Lost":
            return failed("the claim has lost its volume")
        case phase:
            return waiting(f"[1/1] waiting for a volume (the claim is {phase})")


def _volume(obj: Object, _: list[Object]) -> Verdict:
    match dig(obj, "status", "phase", default="Pending"):
        case "Available" | "Bound":
            return READY
        case "Failed":
            return failed(f"the volume failed: {dig(obj, 'status', 'message', default='no message')}")
        case phase:
            return waiting(f"[1/1] waiting for the volume (it is {phase})")


def _definition(obj: Object, _: list[Object]) -> Verdict:
    conditions = conditions_of(obj)
    if (why := conditions.get("NamesAccepted", {})).get("status") == "False":
        return failed(f"the names are taken: {why.get('message', '')}")
    if conditions.get("Established", {}).get("status") == "True":
        return READY
    return waiting("[1/1] waiting for the API server to serve the new kind")


def _quota(obj: Object, _: list[Object]) -> Verdict:
    if dig(obj, "spec", "hard", default={}).keys() <= dig(obj, "status", "hard", default={}).keys():
        return READY
    return waiting("[1/1] waiting for the quota to be counted")


def _token(obj: Object, _: list[Object]) -> Verdict:
    """Only the token of a service account is filled in by a controller; other Secrets are what they are."""
    if dig(obj, "type") != "kubernetes.io/service-account-token" or dig(obj, "data", "token"):
        return READY
    return waiting("[1/1] waiting for the service account's token")


def _custom(obj: Object, _: list[Object]) -> Verdict:
    """The conventions that most controllers keep; an object that says nothing about readiness has none."""
    if not observed(obj):
        return waiting("[1/1] waiting for its controller to see the change")
    conditions = conditions_of(obj)
    if (stalled := conditions.get("Stalled", {})).get("status") == "True":
        return failed(f"its controller has given up: {stalled.get('reason', '')}: {stalled.get('message', '')}")
    ready = conditions.get("Ready")
    if ready is None or ready.get("status") == "True":
        return READY
    said = ": ".join(part for part in (ready.get("reason"), ready.get("message")) if part)
    return waiting(f"[1/1] waiting for condition Ready{f' ({said})' if said else ''}")


OTHERS: dict[tuple[str, str], Readiness] = {
    ("", "Service"): Readiness(_service, related=_endpoint_slices),
    ("networking.k8s.io", "Ingress"): Readiness(_ingress),
    ("", "PersistentVolumeClaim"): Readiness(_claim, seconds=300.0, related=_storage_class),
    ("", "PersistentVolume"): Readiness(_volume, seconds=300.0),
    ("", "ResourceQuota"): Readiness(_quota, seconds=60.0),
    ("", "Secret"): Readiness(_token, seconds=60.0),
    ("apiextensions.k8s.io", "CustomResourceDefinition"): Readiness(_definition, seconds=60.0),
}
CUSTOM = Readiness(_custom)
