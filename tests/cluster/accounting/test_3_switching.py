"""Accounting goes, and comes back with a database that somebody else runs, behind TLS."""

import json
import os
from pathlib import Path
from typing import Any

from lab.pki import Authority
from tests.cluster.accounting.conftest import ACCOUNTING, recorded, submit
from tests.cluster.changes import is_ready, pods, replace
from tests.cluster.stacks import Stack, until

NAME = "elsewhere"
HOST = f"{NAME}.accounted.svc.cluster.local"
PASSWORD = "with # and \"quotes' and $HOME"  # noqa: S105 -- for a database that is gone with the test
START = """
set -eu
mkdir /var/lib/mysql/data
mariadb-install-db --datadir=/var/lib/mysql/data --skip-test-db > /dev/null
printf "CREATE DATABASE slurm_acct_db;\\nCREATE USER slurm IDENTIFIED BY '%s' REQUIRE SSL;\\n" \
    "$(sed "s/'/''/g" /mnt/given/password)" > /run/users.sql
echo "GRANT ALL ON slurm_acct_db.* TO slurm;" >> /run/users.sql
exec /usr/sbin/mariadbd --datadir=/var/lib/mysql/data --socket=/run/socket --init-file=/run/users.sql \
    --skip-name-resolve --ssl-cert=/mnt/given/tls.crt --ssl-key=/mnt/given/tls.key --require-secure-transport=ON \
    --innodb-buffer-pool-size=64M --aria-pagecache-buffer-size=8M --tmpdir=/run
"""


def test_turning_accounting_off_loses_no_job(accounted: Stack) -> None:
    running = submit(accounted, "--ntasks=1 --wrap 'sleep 60'")
    waiting = submit(accounted, "--ntasks=2 --wrap 'sleep 1'")
    accounted.wait_for_job(running, "RUNNING")
    replace(accounted, "accounting")
    accounted.up()
    assert not {"accounting-0", "database-0"} & {name for name, pod in pods(accounted).items() if is_ready(pod)}
    for job in (running, waiting):
        assert accounted.wait_for_job(job)["Restarts"] == "0"
    assert "accounting_storage/none" in accounted.run("scontrol show config").replace(
        "(null)", "accounting_storage/none"
    )
    accounted.up("--expect-no-changes")


def test_a_database_elsewhere_is_used_through_tls(accounted: Stack, tmp_path: Path) -> None:
    give(accounted, tmp_path)
    database = {"host": HOST, "tls": True, "caSecret": {"name": NAME}, "passwordSecret": {"name": NAME}}
    kept = {key: value for key, value in ACCOUNTING.items() if key not in ("mariadb", "archive", "purge")}
    replace(accounted, "accounting", **kept, database=database)
    accounted.up()
    assert "database-0" not in pods(accounted)
    job = submit(accounted, "--wrap true")
    assert recorded(accounted, job)["Account"] == "physics"
    accounted.up("--expect-no-changes")


def test_a_database_with_a_certificate_of_somebody_else_gets_no_password(accounted: Stack, tmp_path: Path) -> None:
    trust(accounted, Authority(tmp_path / "other"))
    refused = "certificate"
    until(lambda: refused in accounted.kubectl("logs", "accounting-0", "-c", "slurmdbd"), "slurmdbd to refuse it", 90)
    assert not is_ready(pods(accounted)["accounting-0"])


def trust(stack: Stack, authority: Authority) -> None:
    """From now on slurmdbd trusts this authority alone."""
    change = json.dumps({"stringData": {"ca.crt": authority.certificate.read_text()}})
    stack.kubectl("patch", "secret", NAME, "-p", change)
    stack.kubectl("delete", "pod", "accounting-0", "--wait=true")
    until(lambda: "accounting-0" in pods(stack), "its successor")
    stack.kubectl("wait", "--for=jsonpath={.status.phase}=Running", "pod/accounting-0", "--timeout=2m")


def give(stack: Stack, folder: Path) -> None:
    """A MariaDB that takes no connection without TLS, with a certificate of an authority that nobody else knows."""
    authority = Authority(folder / "pki")
    certificate, key = authority.issue("database", HOST, hosts=[HOST])
    data = {"tls.crt": certificate.read_text(), "tls.key": key.read_text(), "password": PASSWORD}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": NAME},
        "stringData": {**data, "ca.crt": authority.certificate.read_text()},
    }
    volumes = {"data": "/var/lib/mysql", "run": "/run", "tmp": "/tmp"}
    container: dict[str, Any] = {
        "name": "mariadb",
        "image": os.environ["SLIPWAY_DATABASE_IMAGE"],
        "command": ["bash", "-c", START],
        "volumeMounts": [
            *({"name": name, "mountPath": path} for name, path in volumes.items()),
            {"name": "given", "mountPath": "/mnt/given"},
        ],
        "readinessProbe": {"tcpSocket": {"port": 3306}, "periodSeconds": 2},
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": NAME, "labels": {"app": NAME}},
        "spec": {
            "nodeSelector": {"slipway/role": "system"},
            "containers": [container],
            "volumes": [
                *({"name": name, "emptyDir": {}} for name in volumes),
                {"name": "given", "secret": {"secretName": NAME}},
            ],
            "terminationGracePeriodSeconds": 1,
            "securityContext": {"fsGroup": 64031},
        },
    }
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": NAME},
        "spec": {"clusterIP": "None", "selector": {"app": NAME}, "ports": [{"port": 3306}]},
    }
    for each in (secret, pod, service):
        file = folder / f"{each['kind']}.json"
        file.write_text(json.dumps(each))
        stack.kubectl("apply", "-f", str(file))
    until(lambda: is_ready(pods(stack)[NAME]), "the other database to serve", 120)
