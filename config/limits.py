"""`limits`: what one process may use at the most, as `ulimit` shows it."""

from pydantic import Field

from config.section import Section
from config.types import CountLimit, SizeLimit


class Limits(Section):
    """What one process may use at the most, soft and hard. What is left out is as the container runtime gives it."""

    memlock: SizeLimit | None = Field(default=None, examples=["unlimited"])
    """Memory that it may lock (`ulimit -l`): fast networks and GPUs register theirs so."""

    nofile: CountLimit | None = Field(default=None, examples=[65536])
    """Files that it may have open (`ulimit -n`)."""

    stack: SizeLimit | None = Field(default=None, examples=["unlimited", "64Mi"])
    """The stack of its first thread (`ulimit -s`)."""

    nproc: CountLimit | None = Field(default=None, examples=[4096])
    """Processes and threads that its user may have (`ulimit -u`), counted on the whole Kubernetes node."""

    core: SizeLimit | None = Field(default=None, examples=[0])
    """The core file that it leaves when it crashes (`ulimit -c`); 0 for none."""

    @property
    def stated(self) -> dict[str, str]:
        """Each limit that is stated, in bytes or as a number, by the name that `prlimit` has for it."""
        found = {name: getattr(self, name) for name in Limits.model_fields}
        return {
            name: "unlimited" if each.value is None else str(each.value)
            for name, each in found.items()
            if each is not None
        }


class JobLimits(Limits):
    """What one process of a job may use at the most, wherever the job was submitted from."""

    memlock: SizeLimit | None = Field(default=SizeLimit(None), examples=["unlimited"])
    """Memory that it may lock (`ulimit -l`): fast networks and GPUs register theirs so."""

    nofile: CountLimit | None = Field(default=CountLimit(1048576), examples=[65536])
    """Files that it may have open (`ulimit -n`)."""
