"""Keys of `slurm.extra` that replace ours keep what the cluster lives on."""

from collections.abc import Iterator

from config.checks.finding import Finding
from config.settings import Settings

NEEDED = {
    "SlurmctldParameters": ("enable_configless", "workers and logins get their configuration through it"),
    "SlurmdParameters": ("config_overrides", "a pod sees all CPUs of its machine, and not the part that is its own"),
}


# Slurm takes one of each, and ignores the others.
ONE_OF = (("DefMemPerCPU", "DefMemPerNode", "DefMemPerGPU"), ("MaxMemPerCPU", "MaxMemPerNode"))


def needed_parameters_stay(settings: Settings) -> Iterator[Finding]:
    """A key in extra takes the place of the one that would be rendered."""
    for key, (word, why) in NEEDED.items():
        value = settings.slurm.extra.get(key)
        if value is not None and word not in value.split(","):
            yield Finding(("slurm", "extra", key), f"must contain {word} ({why}); add it")
    flags = settings.slurm.extra.get("PrologFlags", "Contain")
    if settings.slurm.private_tmp and "contain" not in flags.lower().split(","):
        message = "must contain Contain (the private folders of a job belong to its extern step); add it"
        yield Finding(("slurm", "extra", "PrologFlags"), message, (("slurm", "privateTmp"),))


def memory_keys_agree(settings: Settings) -> Iterator[Finding]:
    """Memory is counted by the CPU, by the node or by the GPU, and Slurm ignores the second way that it is told."""
    for kind in ONE_OF:
        first, *others = [key for key in kind if key in settings.slurm.extra] or [""]
        for key in others:
            message = f"cannot be combined with {first}; keep one of them"
            yield Finding(("slurm", "extra", key), message, (("slurm", "extra", first),))


def partitions_follow_the_file(settings: Settings) -> Iterator[Finding]:
    """With KeepPartInfo a reconfigure leaves partitions as they were: nodes that a NodeSet gained and limits that were
    changed never reach them, and Slurm says nothing. The nodes of the bridge keep their partitions without it."""
    flags = settings.slurm.extra.get("ReconfigFlags", "")
    if "keeppartinfo" in flags.lower().split(","):
        message = (
            "KeepPartInfo keeps partitions from following slurm.conf: new nodes and limits would never reach them. "
            "Take it away; nodes of the bridge keep their partitions without it"
        )
        yield Finding(("slurm", "extra", "ReconfigFlags"), message)


# Of each script: the key of slurm.conf that lists it among the plugins that are asked.
SCRIPTS = {"jobSubmitLua": "JobSubmitPlugins", "cliFilterLua": "CliFilterPlugins"}


def scripts_are_run(settings: Settings) -> Iterator[Finding]:
    """A list of plugins in extra takes the place of ours, with or without lua in it."""
    slurm = settings.slurm
    for key, script in zip(SCRIPTS, (slurm.job_submit_lua, slurm.cli_filter_lua), strict=True):
        plugins = SCRIPTS[key]
        listed = slurm.extra.get(plugins)
        if listed is None:
            continue
        named = {name.strip().rpartition("/")[2] for name in listed.lower().split(",")}
        path = ("slurm", "extra", plugins)
        if script is not None and "lua" not in named:
            yield Finding(path, f"must contain lua, or slurm.{key} is not asked; add it", (("slurm", key),))
        elif script is None and "lua" in named:
            yield Finding(path, f"names lua, and there is no script; set slurm.{key}", (("slurm", key),))


def mail_goes_one_way(settings: Settings) -> Iterator[Finding]:
    """slurm.extra would win, without a word."""
    for key in ("MailProg", "MailDomain"):
        if settings.slurm.mail is not None and key in settings.slurm.extra:
            message = "cannot be combined with slurm.mail, which sets it; keep one of them"
            yield Finding(("slurm", "extra", key), message, (("slurm", "mail"),))
