"""What health checks are in Slurm's files, and what a change of them takes."""

from config import Settings
from slurm.changes import plan
from slurm.render import render


def test_health_is_three_keys_and_two_files_that_slurmctld_hands_on() -> None:
    settings = Settings.model_validate({"health": {"enabled": True, "interval": "30s"}})
    files = render(settings)
    for line in ("HealthCheckInterval=30", "Prolog=prolog.sh", "Epilog=epilog.sh"):
        assert f"\n{line}\n" in files["slurm.conf"]
    assert "nohold_on_prolog_fail\n" in files["slurm.conf"]
    assert "RebootProgram" not in files["slurm.conf"]
    assert {"prolog.sh", "epilog.sh"} <= files.keys()
    steps = plan(render(Settings()), files).steps
    assert {step.cls for step in steps} == {"reconfigure"}
    assert not {"prolog.sh", "epilog.sh"} & render(Settings()).keys()


def test_a_check_that_changes_is_a_reconfigure_and_so_is_the_end_of_all_checks() -> None:
    def files(text: str) -> dict[str, str]:
        return render(Settings.model_validate({"health": {"enabled": True, "checks": {"mine": text}}}))

    [step] = plan(files("true"), files("false")).steps
    assert (step.object, step.cls) == ("prolog.sh", "reconfigure")
    assert {step.cls for step in plan(files("true"), render(Settings())).steps} == {"reconfigure"}


def test_a_node_set_that_grows_leaves_the_checks_as_they_are() -> None:
    sizes = [Settings.model_validate({"health": {"enabled": True}, "worker": {"size": size}}) for size in (2, 5)]
    assert render(sizes[0])["prolog.sh"] == render(sizes[1])["prolog.sh"]


def test_scripts_stand_as_they_are_each_below_its_name() -> None:
    health = {
        "enabled": True,
        "checks": {"a": "#!/bin/bash\necho {{ x }} | cat\n", "b": "true"},
        "prolog": {"p": "exit 0\n"},
        "epilog": {"e": "exit 1\n"},
    }
    files = render(Settings.model_validate({"health": health}))
    parts = "#@ check a\n#!/bin/bash\necho {{ x }} | cat\n#@ check b\n#!/bin/sh\ntrue\n#@ prolog p\n#!/bin/sh\nexit 0\n"
    assert files["prolog.sh"].endswith(parts)
    assert files["epilog.sh"].endswith("\n#@ epilog e\n#!/bin/sh\nexit 1\n")


def test_slurm_waits_for_a_reboot_as_long_as_it_is_told_and_for_a_start_no_less() -> None:
    reboot = {"enabled": True, "reboot": {"timeout": "30m"}}
    assert "\nResumeTimeout=1800\n" in render(Settings.model_validate({"health": reboot}))["slurm.conf"]
    elastic = {"health": reboot, "nodeSets": {"e": {"size": 2, "autoscale": {"startTimeout": "1h"}}}}
    text = render(Settings.model_validate(elastic))["slurm.conf"]
    assert text.count("ResumeTimeout=") == 1
    assert "\nResumeTimeout=3600\n" in text
    assert "ResumeTimeout" not in render(Settings())["slurm.conf"]
