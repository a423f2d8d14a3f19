"""How the API server reaches the bridge's admission: a Service, a certificate, and the two webhooks.

Only namespaces that are managed are ever asked about, and among them never those that Kubernetes, Slurm or the bridge
itself live in: whatever becomes of admission, their pods start."""

from typing import Any

import pulumi
from pulumi_command.local import Command, Logging
from pulumi_kubernetes.admissionregistration.v1 import MutatingWebhookConfiguration, ValidatingWebhookConfiguration
from pulumi_kubernetes.apiextensions import CustomResource
from pulumi_kubernetes.core.v1 import Secret, Service

from components import pods
from components.bridge_pods import ADMISSION, CERTIFICATE, HTTPS, checksum
from components.options import child
from config import Settings
from config.bridge import Certificate
from config.checks.bridge import KUBERNETES

WEBHOOK = "pods.slinky.slurm.net"
NAME = "kubernetes.io/metadata.name"  # a label that every namespace has, and that cannot be another
MUTATE, VALIDATE = "/mutate--v1-pod", "/validate--v1-pod"
SECONDS = 5


def spared(settings: Settings) -> list[str]:
    """Namespaces whose pods admission is never asked about."""
    return [*KUBERNETES, settings.cluster.namespace, settings.bridge_namespace]


def selector(settings: Settings) -> dict[str, Any]:
    """Which namespaces admission is asked about."""
    bridge = settings.bridge
    labels: dict[str, str] = {}
    managed: list[dict[str, Any]] = [{"key": NAME, "operator": "In", "values": list(bridge.managed_namespaces)}]
    if bridge.managed_namespace_selector:
        stated = bridge.managed_namespace_selector
        labels = dict(stated.match_labels)
        managed = [each.model_dump(by_alias=True, exclude_defaults=True) for each in stated.match_expressions]
    never = {"key": NAME, "operator": "NotIn", "values": spared(settings)}
    return {"match_labels": labels, "match_expressions": [*managed, never]}


class BridgeAdmission(pulumi.ComponentResource):
    """What is there before admission starts. The webhooks come when it answers, and go before it does."""

    ready: pulumi.Resource
    """What admission's pods cannot start without."""
    certificate: pulumi.Input[str]
    """Tells one certificate from another."""

    def __init__(
        self,
        name: str,
        settings: Settings,
        namespace: pulumi.Input[str],
        opts: pulumi.ResourceOptions | None = None,
    ) -> None:
        super().__init__("slipway:index:BridgeAdmission", name, None, opts)
        self._name, self._settings, self._namespace = name, settings, namespace
        self._service = Service(
            f"{name}-{ADMISSION}",
            # Its pods come after it.
            metadata={"name": ADMISSION, "namespace": namespace, "annotations": {"pulumi.com/skipAwait": "true"}},
            spec={
                "selector": pods.labels(settings, ADMISSION),
                "ports": [{"name": "https", "port": 443, "target_port": HTTPS}],
            },
            opts=child(self),
        )
        self._bundle: pulumi.Output[str] | None = None
        if settings.bridge.certificate:
            wanted = settings.bridge.certificate
            self.ready, self.certificate = self._asked_for(wanted), wanted.issuer
        else:
            self.ready, self.certificate = self._made()
        self.register_outputs({})

    def _host(self) -> str:
        return f"{ADMISSION}.{self._settings.bridge_namespace}.svc"

    def _made(self) -> tuple[pulumi.Resource, pulumi.Output[str]]:
        """By an authority of its own, whose key nobody keeps: it signs this certificate and nothing else."""
        host, number = self._host(), self._settings.secrets.bridge
        command = Command(
            f"{self._name}-bridge-certificate",
            create=f"operations/run certificate {host}",
            triggers=[host, number],
            logging=Logging.NONE,
            opts=pulumi.ResourceOptions(
                parent=self,
                additional_secret_outputs=["stdout"],
                # An update without a command of its own would run `create` again, and make another.
                ignore_changes=["create", "interpreter", "environment", "dir", "logging"],
            ),
        )
        words = pulumi.Output.secret(command.stdout).apply(str.split)
        self._bundle = pulumi.Output.unsecret(words[0])
        secret = Secret(
            f"{self._name}-{CERTIFICATE}",
            metadata={"name": CERTIFICATE, "namespace": self._namespace},
            type="kubernetes.io/tls",
            data={"ca.crt": words[0], "tls.crt": words[1], "tls.key": words[2]},
            opts=child(self),
        )
        return secret, self._bundle.apply(checksum)

    def _asked_for(self, wanted: Certificate) -> pulumi.Resource:
        """By cert-manager, which renews it too; admission reads its files again when they change."""
        return CustomResource(
            f"{self._name}-{CERTIFICATE}",
            api_version="cert-manager.io/v1",
            kind="Certificate",
            metadata={"name": ADMISSION, "namespace": self._namespace},
            spec={
                "secretName": CERTIFICATE,
                "dnsNames": [self._host(), f"{self._host()}.{self._settings.cluster.domain}"],
                "issuerRef": {"group": "cert-manager.io", "kind": wanted.kind, "name": wanted.issuer},
            },
            opts=child(self),
        )

    def ask_after(self, *after: pulumi.Resource) -> None:
        """From now on the API server asks about pods of managed namespaces."""
        whole = f"{self._settings.cluster.namespace}-bridge"  # cluster-wide, so that the namespace is in it
        metadata: Any = {"name": whole}
        if self._settings.bridge.certificate:
            source = f"{self._settings.bridge_namespace}/{ADMISSION}"
            metadata["annotations"] = {"cert-manager.io/inject-ca-from": source}
        opts = child(self, self._service, *after)
        if self._bundle is None:
            opts.ignore_changes = ["webhooks[0].clientConfig.caBundle"]  # cert-manager's
        for kind, path in ((MutatingWebhookConfiguration, MUTATE), (ValidatingWebhookConfiguration, VALIDATE)):
            kind(f"{self._name}-bridge", metadata=metadata, webhooks=[self._webhook(path)], opts=opts)

    def _webhook(self, path: str) -> Any:
        client: dict[str, Any] = {"service": {"name": ADMISSION, "namespace": self._namespace, "path": path}}
        if self._bundle is not None:
            client["ca_bundle"] = self._bundle
        return {
            "name": WEBHOOK,
            "client_config": client,
            "namespace_selector": selector(self._settings),
            "rules": [
                {
                    "api_groups": [""],
                    "api_versions": ["v1"],
                    "resources": ["pods"],
                    "operations": ["CREATE", "UPDATE"],
                    "scope": "Namespaced",
                }
            ],
            "failure_policy": self._settings.bridge.failure_policy,
            "timeout_seconds": SECONDS,
            "side_effects": "None",
            "admission_review_versions": ["v1"],
        }
