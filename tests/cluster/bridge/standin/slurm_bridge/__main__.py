"""Which of the three processes this pod is, and its work once a second. A problem is told and tried again."""

import signal
import sys
import time
from pathlib import Path
from typing import Any

import yaml

from slurm_bridge import admission, scheduler
from slurm_bridge.controllers import Controllers
from slurm_bridge.kube import ACCOUNT

CONFIG = Path("/etc/slurm-bridge/config.yaml")


def part(config: dict[str, Any]) -> Any:
    if scheduler.CONFIG.exists():
        return scheduler.Scheduler(config)
    namespace = (ACCOUNT / "namespace").read_text()
    return Controllers(config, any(word.startswith("--leader-elect") for word in sys.argv), namespace)


def main() -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    config = yaml.safe_load(CONFIG.read_text())
    if admission.CERTIFICATES.exists():
        admission.Admission(config).run()
    worker = part(config)
    print(f"{type(worker).__name__} {sys.argv[1:]} {config}")
    try:
        while True:
            try:
                worker.step()
            except Exception as problem:
                print(f"{type(problem).__name__}: {problem}", file=sys.stderr)
            time.sleep(1)
    finally:
        worker.lease.release()


main()
