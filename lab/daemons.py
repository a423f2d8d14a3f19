"""The daemons of each node: their configuration files and command lines, with certificates that they are issued."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from lab.layout import NODE_PORTS, Lab, Node
from lab.pki import Authority, kubeconfig, service_account_key

CONTAINERD_SOCKET = "/run/containerd/containerd.sock"
CONTROL_PLANE_TAINT = "node-role.kubernetes.io/control-plane"


@dataclass
class Setup:
    """What a node is given: files below its home, and its daemons in the order in which they start."""

    files: dict[str, str] = field(default_factory=dict)
    daemons: dict[str, list[str]] = field(default_factory=dict)

    def run(self, name: str, program: Path | str, **flags: str) -> None:
        """Start `program` with `--some-flag=value` for each `some_flag`."""
        self.daemons[name] = [str(program), *(f"--{flag.replace('_', '-')}={value}" for flag, value in flags.items())]


@dataclass(frozen=True)
class Programs:
    kubernetes: Path  # the folder with kube-apiserver, kubelet and the rest
    debian: Path  # the root with Debian's daemons
    pause: str  # the image that holds a pod's namespaces open
    network_policies: Path | None = None  # the folder with the program that enforces them, where they are

    def of_debian(self, path: str) -> str:
        return str(self.debian / path)


def setup(lab: Lab, node: Node, authority: Authority, programs: Programs) -> Setup:
    made = Setup()
    if node.role == "control-plane":
        _control_plane(made, lab, node, authority, programs)
    _containerd(made, lab, node, programs)
    _kubelet(made, lab, node, authority, programs)
    _kube_proxy(made, lab, node, authority, programs)
    if programs.network_policies:
        made.run(
            "kube-network-policies",
            programs.network_policies / "kube-network-policies",
            kubeconfig=_identity(lab, authority, "network-policies", "system:network-policies"),
            hostname_override=node.name,
            cluster_cidr=lab.pods,
        )
    return made


def _control_plane(made: Setup, lab: Lab, node: Node, authority: Authority, programs: Programs) -> None:
    names = ["kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"]
    hosts = [*names, "localhost", "127.0.0.1", node.address, lab.kubernetes_service]
    ca = str(authority.certificate)
    certificate, key = authority.issue("apiserver", "kube-apiserver", hosts=hosts)
    to_kubelet, to_kubelet_key = authority.issue("apiserver-kubelet-client", "kube-apiserver", "system:masters")
    etcd, etcd_key = authority.issue("etcd", "etcd", hosts=["127.0.0.1"])
    # Whoever holds a certificate of this second authority may speak for others: the aggregation layer, and nobody else.
    front = Authority(authority.folder / "front-proxy")
    front_certificate, front_key = front.issue("client", "front-proxy-client")
    accounts = service_account_key(authority.folder)
    made.daemons["etcd"] = [
        programs.of_debian("usr/bin/etcd"),
        *("--name=lab", "--data-dir=/var/lib/etcd", "--logger=zap", "--log-level=warn"),
        *("--listen-client-urls=https://127.0.0.1:2379", "--advertise-client-urls=https://127.0.0.1:2379"),
        *("--listen-peer-urls=http://127.0.0.1:2380", "--initial-advertise-peer-urls=http://127.0.0.1:2380"),
        *("--initial-cluster=lab=http://127.0.0.1:2380", "--client-cert-auth", f"--trusted-ca-file={ca}"),
        *(f"--cert-file={etcd}", f"--key-file={etcd_key}"),
    ]
    made.run(
        "kube-apiserver",
        programs.kubernetes / "kube-apiserver",
        advertise_address=node.address,
        secure_port="6443",
        etcd_servers="https://127.0.0.1:2379",
        etcd_cafile=ca,
        etcd_certfile=str(etcd),
        etcd_keyfile=str(etcd_key),
        tls_cert_file=str(certificate),
        tls_private_key_file=str(key),
        client_ca_file=ca,
        kubelet_certificate_authority=ca,
        kubelet_client_certificate=str(to_kubelet),
        kubelet_client_key=str(to_kubelet_key),
        kubelet_preferred_address_types="InternalIP",
        requestheader_client_ca_file=str(front.certificate),
        requestheader_allowed_names="front-proxy-client",
        requestheader_username_headers="X-Remote-User",
        requestheader_group_headers="X-Remote-Group",
        requestheader_extra_headers_prefix="X-Remote-Extra-",
        proxy_client_cert_file=str(front_certificate),
        proxy_client_key_file=str(front_key),
        service_account_issuer="https://kubernetes.default.svc.cluster.local",
        service_account_key_file=str(accounts),
        service_account_signing_key_file=str(accounts),
        service_cluster_ip_range=lab.services,
        service_node_port_range=f"{NODE_PORTS[0]}-{NODE_PORTS[-1]}",
        authorization_mode="Node,RBAC",
        enable_admission_plugins="NodeRestriction",
        allow_privileged="true",
    )
    controllers = _identity(lab, authority, "controller-manager", "system:kube-controller-manager")
    made.run(
        "kube-controller-manager",
        programs.kubernetes / "kube-controller-manager",
        kubeconfig=controllers,
        authentication_kubeconfig=controllers,
        authorization_kubeconfig=controllers,
        root_ca_file=ca,
        service_account_private_key_file=str(accounts),
        cluster_signing_cert_file=ca,
        cluster_signing_key_file=str(authority.folder / "ca.key"),
        use_service_account_credentials="true",
        leader_elect="false",
        enable_hostpath_provisioner="true",  # what the lab's StorageClass is served by
        flex_volume_plugin_dir="/var/lib/kubelet/volume-plugins",
        node_monitor_grace_period="20s",  # a node that lost power is noticed sooner than on a real network
    )
    scheduler = _identity(lab, authority, "scheduler", "system:kube-scheduler")
    made.run(
        "kube-scheduler",
        programs.kubernetes / "kube-scheduler",
        kubeconfig=scheduler,
        authentication_kubeconfig=scheduler,
        authorization_kubeconfig=scheduler,
        leader_elect="false",
    )


def _containerd(made: Setup, lab: Lab, node: Node, programs: Programs) -> None:
    made.files["containerd.toml"] = f"""\
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", \
"io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper"]

[grpc]
address = "{CONTAINERD_SOCKET}"

[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "{programs.pause}"
# Machines that are containers themselves often may not make a process less likely to be killed.
restrict_oom_score_adj = true
enable_unprivileged_ports = true

[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "{programs.of_debian("usr/lib/cni")}"
conf_dir = "{lab.home / "nodes" / node.name / "cni"}"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
BinaryName = "{programs.of_debian("usr/sbin/runc")}"
"""
    # Routed, not bridged and never masqueraded: slurmd answers srun at the address that it saw.
    network = {
        "cniVersion": "0.4.0",
        "name": "pods",
        "plugins": [
            {
                "type": "ptp",
                "ipMasq": False,
                "ipam": {
                    "type": "host-local",
                    "dataDir": "/run/cni",  # gone after a power cut, as the pods are
                    "ranges": [[{"subnet": node.pod_subnet}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            }
        ],
    }
    made.files["cni/10-pods.conflist"] = json.dumps(network, indent=2)
    config = lab.home / "nodes" / node.name / "containerd.toml"
    made.daemons["containerd"] = [programs.of_debian("usr/bin/containerd"), "--config", str(config)]


def _kubelet(made: Setup, lab: Lab, node: Node, authority: Authority, programs: Programs) -> None:
    certificate, key = authority.issue(f"kubelet-{node.name}", node.name, hosts=[node.name, node.address])
    home = lab.home / "nodes" / node.name
    taints = [{"key": CONTROL_PLANE_TAINT, "effect": "NoSchedule"}] if node.role == "control-plane" else []
    made.files["resolv.conf"] = "# Pods resolve names of the cluster only.\n"
    made.files["kubelet.yaml"] = yaml.safe_dump(
        {
            "apiVersion": "kubelet.config.k8s.io/v1beta1",
            "kind": "KubeletConfiguration",
            "authentication": {"anonymous": {"enabled": False}, "x509": {"clientCAFile": str(authority.certificate)}},
            "authorization": {"mode": "Webhook"},
            "tlsCertFile": str(certificate),
            "tlsPrivateKeyFile": str(key),
            "containerRuntimeEndpoint": f"unix://{CONTAINERD_SOCKET}",
            "cgroupDriver": "cgroupfs",
            "cgroupRoot": f"/{lab.cgroup}/{node.name}",
            "failCgroupV1": False,
            "failSwapOn": False,
            "oomScoreAdj": 0,
            "clusterDNS": [lab.dns],
            "clusterDomain": "cluster.local",
            "resolvConf": str(home / "resolv.conf"),
            "volumePluginDir": "/var/lib/kubelet/volume-plugins",
            "registerWithTaints": taints,
            # Images are loaded by hand and cannot be pulled again.
            "imageGCHighThresholdPercent": 100,
            "evictionHard": {"memory.available": "100Mi", "nodefs.available": "1Gi", "imagefs.available": "1Gi"},
            "serializeImagePulls": False,
        }
    )
    made.run(
        "kubelet",
        programs.kubernetes / "kubelet",
        config=str(home / "kubelet.yaml"),
        kubeconfig=_identity(lab, authority, f"node-{node.name}", f"system:node:{node.name}", "system:nodes"),
        hostname_override=node.name,
        node_ip=node.address,
        node_labels=f"slipway/role={node.role}",
    )


def _kube_proxy(made: Setup, lab: Lab, node: Node, authority: Authority, programs: Programs) -> None:
    home = lab.home / "nodes" / node.name
    made.files["kube-proxy.yaml"] = yaml.safe_dump(
        {
            "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
            "kind": "KubeProxyConfiguration",
            "clientConnection": {"kubeconfig": _identity(lab, authority, "kube-proxy", "system:kube-proxy")},
            "mode": "nftables",
            "clusterCIDR": lab.pods,
            "hostnameOverride": node.name,
            "oomScoreAdj": 0,
            "conntrack": {"maxPerCore": 0, "tcpEstablishedTimeout": "0s", "tcpCloseWaitTimeout": "0s"},
        }
    )
    made.run("kube-proxy", programs.kubernetes / "kube-proxy", config=str(home / "kube-proxy.yaml"))


def _identity(lab: Lab, authority: Authority, file: str, common_name: str, group: str = "") -> str:
    """The kubeconfig with which a daemon speaks to the API server under a name of its own."""
    certificate, key = authority.issue(file, common_name, group)
    return str(kubeconfig(lab, authority, authority.folder / f"{file}.kubeconfig", certificate, key))
