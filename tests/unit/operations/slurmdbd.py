"""A slurmdbd in memory: it takes what sacctmgr is told, shows it in sacctmgr's words, and refuses what that does."""

import shlex

Fields = dict[str, str]
QOS = {
    **{"Priority": "0", "MaxWall": "", "MaxJobsPerUser": "", "MaxSubmitJobsPerUser": "", "MaxTRESPerUser": ""},
    **{"GrpTRES": "", "Preempt": "", "Flags": "", "Description": ""},
}


class Slurmdbd:
    """`told` lists the commands that it took."""

    def __init__(self) -> None:
        self.up = True
        self.clusters: dict[str, str] = {}  # where its slurmctld is, and which protocol it speaks
        self.tres = ["cpu|", "mem|", "node|", "billing|"]
        self.qos: dict[str, Fields] = {"normal": {**QOS, "Description": "Normal QOS default"}}
        self.accounts: dict[str, Fields] = {}
        self.associations: list[tuple[str, str]] = []
        self.users: dict[str, Fields] = {}
        self.told: list[str] = []
        self.deaf = False  # it takes what it is told, and forgets it

    def add_cluster(self, name: str) -> None:
        self.told.append(f"add cluster {name}")
        self.clusters[name] = "|0"
        self.accounts["root"] = {"Organization": "root", "Description": "default root account", "Parent": ""}
        self.accounts["root"] |= {"Fairshare": "1", "QOS": "normal", "DefaultQOS": ""}
        self.associations.append(("root", "root"))
        self.users["root"] = {"DefaultAccount": "root", "AdminLevel": "Administrator"}

    def show(self) -> str:
        lines = [
            "=== cluster",
            *(f"{name}|{host}" for name, host in self.clusters.items()),
            "=== tres",
            *self.tres,
            "=== qos",
        ]
        lines += ["|".join([name, *(each[field] for field in QOS)]) for name, each in self.qos.items()]
        lines += ["=== account"]
        lines += [f"{name}|{each['Organization']}|{each['Description']}" for name, each in self.accounts.items()]
        lines += ["=== assoc"]
        for name, each in self.accounts.items():
            lines.append("|".join([name, "", each["Parent"], each["Fairshare"], each["QOS"], each["DefaultQOS"]]))
            lines += [f"{name}|{user}||1|normal|" for account, user in self.associations if account == name]
        lines += ["=== user"]
        lines += [f"{name}|{each['DefaultAccount']}|{each['AdminLevel']}" for name, each in self.users.items()]
        return "\n".join(lines) + "\n"

    def sacctmgr(self, line: str) -> str:
        """What it refuses; nothing if it does it."""
        program, _, verb, kind, *words = shlex.split(line)
        assert program == "sacctmgr"
        if not self.deaf and (refused := getattr(self, f"_{verb}")(kind, words)):
            return refused
        self.told.append(" ".join([verb, kind, *words]))
        return ""

    def _add(self, kind: str, words: list[str]) -> str:
        name, fields = words[0], _pairs(words[1:])
        if kind == "qos":
            if any(each not in self._known() for each in _names(fields.get("MaxTRESPerUser", ""))):
                return "Invalid TRES"
            self.qos[name] = {**QOS, **fields}
        elif kind == "account":
            if fields["Parent"] not in self.accounts:
                return f"Parent account '{fields['Parent']}' doesn't exist."
            self.accounts[name] = {"DefaultQOS": "", **fields}
        else:
            self.associations.append((fields["account"], name))
            self.users.setdefault(name, {"DefaultAccount": fields["account"], "AdminLevel": "None"})
        return ""

    def _modify(self, kind: str, words: list[str]) -> str:
        at = words.index("set")
        name, fields = _pairs(words[1:at])["name"], _pairs(words[at + 1 :])
        things = {"qos": self.qos, "account": self.accounts, "user": self.users}[kind]
        for field, value in fields.items():
            if field == "MaxTRESPerUser":
                value = ",".join(each for each in value.split(",") if not each.endswith("=-1"))
            things[name][field] = "" if value == "-1" else value
        return ""

    def _delete(self, kind: str, words: list[str]) -> str:
        where = _pairs(words[1:])
        name = where["name"]
        if kind == "qos":
            del self.qos[name]
        elif kind == "account":
            del self.accounts[name]
            self.associations = [each for each in self.associations if each[0] != name]
        else:
            others = [each for each in self.associations if each[1] == name and each[0] != where["account"]]
            if others and self.users[name]["DefaultAccount"] == where["account"]:
                return "You can not remove the default account of a user"
            self.associations.remove((where["account"], name))
            if not others:
                del self.users[name]
        return ""

    def _known(self) -> set[str]:
        return {each.strip("|").replace("|", "/") for each in self.tres}


def _pairs(words: list[str]) -> Fields:
    return dict(each.split("=", 1) for each in words)


def _names(limits: str) -> list[str]:
    return [each.partition("=")[0] for each in limits.split(",") if each]
