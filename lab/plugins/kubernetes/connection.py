"""The way to the cluster, found when it is first needed; a cluster that does not answer is asked again later."""

import threading
import time

from lab.plugins.kubernetes.client import ApiError, Unreachable
from lab.plugins.kubernetes.cluster import Cluster, connect
from lab.plugins.kubernetes.kubeconfig import KubeconfigError
from lab.plugins.kubernetes.options import Options

_ASK_AGAIN_AFTER = 5.0


class NoCluster(Exception):  # noqa: N818
    """The cluster cannot be used; the message says why, and `advice` what to do."""

    advice = (
        "Start the cluster, or correct the provider's `kubeconfig` and `context` or KUBECONFIG. If it is gone for "
        "good, run again with PULUMI_K8S_DELETE_UNREACHABLE=true: that removes its resources from the state"
    )

    def __str__(self) -> str:
        return f"the Kubernetes cluster is unreachable: {self.args[0]}"


class Connection:
    """Connects once for all resources of a provider."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._cluster: Cluster | None = None
        self._problem: NoCluster | None = None
        self._asked = float("-inf")
        self._lock = threading.Lock()

    def cluster(self) -> Cluster:
        """The cluster, or `NoCluster`."""
        with self._lock:
            if self._cluster:
                return self._cluster
            # Many resources ask at once: one answer, or one time-out, is enough for all of them.
            if self._problem and time.monotonic() - self._asked < _ASK_AGAIN_AFTER:
                raise self._problem
            try:
                self._cluster = self._connect()
            except NoCluster as problem:
                self._problem, self._asked = problem, time.monotonic()
                raise
            return self._cluster

    def _connect(self) -> Cluster:
        try:
            access = self._options.access()
        except (KubeconfigError, OSError) as error:
            raise NoCluster(str(error)) from error
        try:
            return connect(access, self._options.client_timeout)
        except (KubeconfigError, OSError, Unreachable) as error:
            raise NoCluster(f"{error} (from {access.source})") from error
        except ApiError as error:
            raise NoCluster(
                f"the API server {access.server} answers with {error.status}: {error.message} (from {access.source})"
            ) from error

    def namespace(self) -> str:
        """The default namespace, which is known even if the cluster does not answer."""
        try:
            return self._options.access().namespace
        except (KubeconfigError, OSError):
            return self._options.namespace or "default"
