"""Programs about one namespace: what each of them begins with, so that a test shows only what it is about."""

from collections.abc import Mapping
from textwrap import dedent

from tests.engine.project import Project

_PREAMBLE = '''\
import pulumi
import pulumi_kubernetes as kubernetes
from pulumi import CustomTimeouts, ResourceOptions

NAMESPACE = {namespace!r}
SETTINGS = {provider!r}
explicit = None if SETTINGS is None else kubernetes.Provider("cluster", **SETTINGS)

GROUPS = dict(
    CustomResourceDefinition="apiextensions.k8s.io/v1",
    DaemonSet="apps/v1",
    Deployment="apps/v1",
    Ingress="networking.k8s.io/v1",
    Job="batch/v1",
    PriorityClass="scheduling.k8s.io/v1",
    Role="rbac.authorization.k8s.io/v1",
    RoleBinding="rbac.authorization.k8s.io/v1",
    StatefulSet="apps/v1",
    StorageClass="storage.k8s.io/v1",
)


def opts(**options):
    return ResourceOptions(provider=explicit, **options)


def meta(name=None, annotations=None, **more):
    given = dict(name=name, annotations=annotations, **more)
    return dict(namespace=NAMESPACE, **{{key: value for key, value in given.items() if value is not None}})


class make(pulumi.CustomResource):
    """An object as the SDK's classes make it; those take a second to import."""

    def __init__(self, kind, name, metadata, api=None, token=None, opts=None, **fields):
        api = api or GROUPS.get(kind, "v1")
        module = api if "/" in api else f"core/{{api}}"
        given = dict(apiVersion=api, kind=kind, metadata=metadata, status=None, **fields)
        super().__init__(token or f"kubernetes:{{module}}:{{kind}}", name, given, opts or globals()["opts"]())


def pod(script, image, labels=None, grace=0, **container):
    """The template of a pod that runs a shell script."""
    first = dict(name="main", image=image, command=["/bin/sh", "-c", script], **container)
    return dict(
        metadata=dict(labels=labels or dict(app="test")),
        spec=dict(containers=[first], terminationGracePeriodSeconds=grace),
    )


'''


class Programs:
    """Writes the project's program."""

    def __init__(self, project: Project, namespace: str) -> None:
        self._project = project
        self._namespace = namespace

    def __call__(self, body: str, *, provider: Mapping[str, object] | None = None) -> None:
        """Write a program; with `provider`, the arguments of an explicit one, its resources get that one."""
        preamble = _PREAMBLE.format(
            namespace=self._namespace, provider=dict(provider) if provider is not None else None
        )
        self._project.write(preamble + dedent(body).strip() + "\n")
