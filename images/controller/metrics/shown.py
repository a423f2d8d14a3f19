"""What a slurmctld shows of itself, to be compared. Drift is what `slipway drift` calls so; a unit test keeps it so."""

import hashlib
import re
from pathlib import Path

CONFIG, APPLIED, REHEARSED = Path("/etc/slurm"), Path("/mnt/applied"), Path("/mnt/rehearsal/rehearsal")

NODE_FIELDS = (
    *("CPUTot", "CoresPerSocket", "Sockets", "ThreadsPerCore", "Boards", "RealMemory", "MemSpecLimit", "Gres"),
    *("AvailableFeatures", "Weight", "Port", "Extra"),
)
NOT_OF_A_PARTITION = ("TotalCPUs", "TotalNodes", "TRES", "Nodes")
NOT_OF_THE_FILES = re.compile(
    r"boot_time|hash_val|slurm_conf|slurm_version|next_job_id|slurmctldhost(\[\d+\])?|slurmctldport|"
    r"statesavelocation|slurmctldpidfile|accountingstorage\w+|jobcomp\w+|suspendprogram|suspendtime|resumeprogram|"
    r"resumefailprogram|slurmctldprimaryo(n|ff)prog|slurmctldlogfile|slurmctldsyslogdebug|"
    r"priorityweight(age|fairshare|qos)",
    re.IGNORECASE,
)
OBJECT = re.compile(r"node \S+|partition \S+ PartitionName")
FIELD = re.compile(r"(?:^|(?<= ))([A-Z][A-Za-z_]*)=")

Fields = dict[str, str]


def fields_of(line: str) -> Fields:
    """A line of `scontrol --oneliner`."""
    fields: Fields = {}
    places = list(FIELD.finditer(line))
    for place, following in zip(places, [*places[1:], None], strict=True):
        fields.setdefault(place[1], line[place.end() : following.start() if following else None].strip())
    return fields


class Shown:
    """What a slurmctld shows of itself, as far as its files decide it: texts to compare, by the thing they are of."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._same: dict[str, str] = {}
        self.config: Fields = {}

    def add(self, what: str, line: str) -> Fields:
        """One line of the answer to `scontrol show WHAT`."""
        if what == "config":
            key, _, value = line.partition("=")
            key = key.strip()
            if " = " in line:
                self.config[key] = value.strip()
                if not NOT_OF_THE_FILES.fullmatch(key):
                    self.texts[key] = value.strip()
            return {}
        fields = fields_of(line)
        if name := fields.get("NodeName"):
            if "DYNAMIC_NORM" not in fields.get("State", ""):  # these are in no file
                told = " ".join(fields.get(field, "").split("(S:")[0] for field in NODE_FIELDS)
                self.texts[f"node {name}"] = self._same.setdefault(told, told)
        elif name := fields.get("PartitionName"):
            kept = {key: value for key, value in fields.items() if key not in NOT_OF_A_PARTITION}
            self.texts |= {f"partition {name} {key}": value for key, value in kept.items()}
        return fields

    def differences(self, running: "Shown") -> list[str]:
        """What was declared and runs otherwise, and nodes and partitions that run and were not declared."""
        changed = [name for name, text in self.texts.items() if running.texts.get(name) != text]
        added = running.texts.keys() - self.texts.keys()
        return [*changed, *sorted(name for name in added if OBJECT.fullmatch(name))]


def read_rehearsal(wanted: str) -> Shown | None:
    """The answers that a throwaway slurmctld has given with these files."""
    try:
        if (REHEARSED / "digest").read_text().strip() != wanted:
            return None
        shown, what = Shown(), ""
        with (REHEARSED / "shown").open() as file:
            for line in file:
                if line.startswith("=== "):
                    what = line[4:].strip()
                else:
                    shown.add(what, line)
    except FileNotFoundError:
        return None
    return shown


def read_folder(folder: Path) -> dict[str, str]:
    """The keys of a mounted ConfigMap."""
    return {each.name: each.read_text() for each in folder.iterdir() if not each.name.startswith("..")}


def digest(files: dict[str, str]) -> str:
    sums = [f"{hashlib.sha256(text.encode()).hexdigest()}  {name}\n" for name, text in sorted(files.items())]
    return hashlib.sha256("".join(sums).encode()).hexdigest()
