"""MariaDB and slurmdbd beside the throwaway slurmctld, as containers of the same pod."""

import re
import time
from dataclasses import dataclass
from typing import Any

from slurm import places
from tests.cluster.daemon.slurmctld import Slurmctld

PATIENCE = 120.0  # seconds: a new database is some hundred files
PASSWORD = "only-in-this-pod"  # noqa: S105
DATA = "/var/lib/mysql"

DATABASE = f"""
set -eu
mkdir -p {DATA}/data
mariadb-install-db --datadir={DATA}/data --skip-test-db > /dev/null
cat > {DATA}/users.sql <<< "
CREATE DATABASE slurm_acct_db;
CREATE USER slurm@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';
GRANT ALL ON slurm_acct_db.* TO slurm@'127.0.0.1';"
exec /usr/sbin/mariadbd --datadir={DATA}/data --socket={DATA}/socket --bind-address=127.0.0.1 \\
    --init-file={DATA}/users.sql --innodb-buffer-pool-size=4G  # slurmdbd thinks it enough; unused memory is not taken
"""


def containers(accounting: str, database: str) -> list[dict[str, Any]]:
    """Both run as the users of their images; only slurmdbd shares keys and configuration with slurmctld."""
    volumes = {"run": "/run", "keys": places.KEYS, "etc": "/etc/slurm"}
    return [
        {
            "name": "database",
            "image": database,
            "command": ["bash", "-c", DATABASE],
            "volumeMounts": [{"name": "data", "mountPath": DATA}],
        },
        {
            "name": "slurmdbd",
            "image": accounting,
            "command": ["bash", "-c", "sleep infinity & wait"],
            "volumeMounts": [{"name": name, "mountPath": path} for name, path in volumes.items()],
        },
    ]


@dataclass
class Slurmdbd:
    """Starts a slurmdbd with a rendered slurmdbd.conf."""

    controller: Slurmctld

    def start(self, conf: str) -> None:
        """Start it, and wait until it serves. The password is in the file, as there is no Secret; both hosts are this
        pod: slurmdbd ends on any other."""
        own = conf.replace(f"DbdHost={places.ACCOUNTING}-0\n", f"DbdHost={places.CONTROLLER}-0\n")
        own = re.sub(r"(?m)^StorageHost=.*", "StorageHost=127.0.0.1", own)
        own = own.replace(f"StoragePassScript={places.PASSWORD_SCRIPT}\n", f"StoragePass={PASSWORD}\n")
        assert [line for line in own.splitlines() if line not in conf.splitlines()] == [
            f"DbdHost={places.CONTROLLER}-0",
            "StorageHost=127.0.0.1",
            f"StoragePass={PASSWORD}",
        ]
        self._until_served(3306, "MariaDB")
        file = "/etc/slurm/slurmdbd.conf"
        self.ask(f"umask 077; rm -f {file}; cat > {file} <<'END'\n{own}END\n")
        self.ask("setsid /usr/sbin/slurmdbd -D < /dev/null > /tmp/said 2>&1 &")
        self._until_served(places.SLURMDBD_PORT, "slurmdbd")

    def _until_served(self, port: int, who: str) -> None:
        deadline = time.monotonic() + PATIENCE
        while port not in self.controller.listening():
            assert time.monotonic() < deadline, f"{who} does not serve after {PATIENCE:.0f} s\n{self.said()}"
            time.sleep(0.5)

    def said(self) -> str:
        return self.controller.run("cat /tmp/said", "slurmdbd").stdout

    def ask(self, script: str) -> str:
        done = self.controller.run(script, "slurmdbd")
        assert done.returncode == 0, f"{script}: {done.stdout}{done.stderr}"
        return done.stdout
