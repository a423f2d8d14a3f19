"""Alerts by Prometheus' own tool: that it reads them, and when they fire."""

import subprocess

from lab import debian, paths

FOLDER = paths.CHECKOUT / "monitoring"


def promtool(*words: str) -> str:
    argv = [str(debian.prometheus() / "promtool"), *words]
    done = subprocess.run(argv, cwd=FOLDER, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_prometheus_reads_the_rules() -> None:
    assert "SUCCESS: 7 rules found" in promtool("check", "rules", "alerts.yaml")


def test_alerts_fire_when_they_should_and_only_then() -> None:
    assert "SUCCESS" in promtool("test", "rules", "alerts.test.yaml")
