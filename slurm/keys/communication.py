"""Keys of slurm.conf about who talks to whom, and who may see and do what."""

from slurm.keys.entry import Table, drain_first, reconfigure, restart_controller, restart_workers
from slurm.keys.values import flag, names, number, options, word

_EVERYONE = "Every daemon and command has to change to it together, and running steps could not report their end."
_CERTIFICATES = "Daemons ask for their certificates when they start."
_AUTH_START = "slurmctld loads its ways of authentication when it starts; a reconfigure keeps those it has."
_LISTENING = "Listening sockets are opened when a daemon starts, and handed on unchanged by a reconfigure."
_NEXT = "Used for connections that are made after a reconfigure."
_HTTP = "The slurmctld that a reconfigure starts serves HTTP as the file says."
_SEEN = "What users may see is decided at each request, by what the last reconfigure read."

COMMUNICATION: Table = {
    "AuthAltParameters": restart_controller(_AUTH_START, names),
    "AuthAltTypes": restart_controller(_AUTH_START, options),
    "AuthInfo": restart_workers(
        "Daemons read how to reach their authentication service when they start.",
        options,
        also=("restart-controller",),
    ),
    "AuthType": drain_first(_EVERYONE, word, also=("restart-controller", "restart-workers")),
    "CertgenParameters": restart_workers(_CERTIFICATES, names, also=("restart-controller",)),
    "CertgenType": restart_workers(_CERTIFICATES, word, also=("restart-controller",)),
    "CertmgrParameters": restart_workers(_CERTIFICATES, names, also=("restart-controller",)),
    "CertmgrType": restart_workers(_CERTIFICATES, word, also=("restart-controller",)),
    "CommunicationParameters": reconfigure(_NEXT, options),
    "CredType": drain_first(
        "Credentials of running jobs are signed by the old mechanism, and nothing could check them any more.",
        word,
        also=("restart-controller", "restart-workers"),
    ),
    "DisableRootJobs": reconfigure("Jobs of root are accepted or not when they are submitted.", flag, "no"),
    "HashPlugin": drain_first(
        "Messages of steps that run are hashed the old way, and daemons with another hash would not accept them.",
        word,
        "hash/k12",
        also=("restart-controller", "restart-workers"),
    ),
    "HttpParserType": reconfigure(_HTTP, word),
    "MCSParameters": reconfigure("Security labels are checked by these rules after a reconfigure.", names),
    "MCSPlugin": restart_controller("Security labels of all jobs are read by one plugin, chosen at the start.", word),
    "MessageTimeout": reconfigure(_NEXT, number, "10"),
    "MetricsAuthUsers": reconfigure(_HTTP, names),
    "MetricsParameters": reconfigure(_HTTP, options),
    "MetricsType": reconfigure(_HTTP, word),
    "PrivateData": reconfigure(f"{_SEEN} With PrivateData set, /metrics answers nothing.", options, "none"),
    "SlurmctldAddr": restart_controller(_LISTENING, also=("reconfigure",)),
    "SlurmctldHost": restart_controller(
        "A controller finds out at its start whether it is the primary; workers learn of it at the next reconfigure.",
        also=("reconfigure",),
    ),
    "SlurmctldHttpAuthParameters": reconfigure(_HTTP, names),
    "SlurmctldPort": restart_controller(
        f"{_LISTENING} Workers and logins, which look for the controller at the old port, are restarted after it.",
        default="6817",
        also=("restart-workers",),
    ),
    "SlurmdHttpAuthParameters": reconfigure("slurmd serves HTTP as the file says after a reconfigure.", names),
    "SlurmdPort": restart_workers(
        f"{_LISTENING} Until a worker is restarted the controller looks for it at a port where nothing listens.",
        number,
        "6818",
        also=("reconfigure",),
    ),
    "SrunPortRange": reconfigure("srun chooses its ports when it starts."),
    "TCPTimeout": reconfigure(_NEXT, number, "2"),
    "TLSParameters": restart_workers(_CERTIFICATES, options, also=("restart-controller",)),
    "TLSType": drain_first(_EVERYONE, word, "tls/none", also=("restart-controller", "restart-workers")),
    "TreeWidth": reconfigure("Messages fan out by the new width after a reconfigure.", number, "16"),
    "UrlParserType": reconfigure(_HTTP, word),
    "UsePAM": reconfigure("PAM is asked, or not, for steps that start after a reconfigure.", flag, "no"),
}

# Parts of CommunicationParameters that decide how sockets are opened.
_LISTEN_EVERYWHERE = restart_workers(_LISTENING, also=("restart-controller",))
COMMUNICATION_OPTIONS: Table = {
    "DisableIPv4": _LISTEN_EVERYWHERE,
    "EnableIPv6": _LISTEN_EVERYWHERE,
    "NoCtldInAddrAny": restart_controller(_LISTENING),
    "NoInAddrAny": restart_workers(_LISTENING),
}
