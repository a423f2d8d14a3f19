"""Names, each with the rules of everyone who has to accept it: Slurm, Kubernetes, DNS, the password file."""

import ipaddress
import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import AfterValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import PydanticCustomError, core_schema

from config.types.scalars import String, refuse
from config.types.shown import shown

# Kubernetes puts `<StatefulSet>-<hash of ten>` into a label, and a label value has at most 63 characters.
LONGEST_STATEFUL_SET = 52

# Between two dots of a DNS name there are at most 63 characters.
_LABEL = r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
_HOST_LABEL = r"[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?"
_NAME_PART = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"


@dataclass(frozen=True)
class Named:
    """For `Annotated[String, Named(…)]`: a pattern, and the same thing in words for whoever breaks it."""

    wants: str
    pattern: str
    longest: int
    examples: tuple[str, ...]
    reserved: tuple[str, ...] = ()

    def check(self, text: str) -> str:
        """The text itself, if it keeps the rule."""
        problem = ""
        if len(text) > self.longest:
            problem = f"it has {len(text)} characters and at most {self.longest} fit"
        elif text.lower() in self.reserved:
            problem = "that word has a meaning of its own"
        elif re.fullmatch(self.pattern, text):
            return text
        detail = f" ({problem})" if problem else ""
        raise PydanticCustomError(
            "slipway", "{value} is not {wants}{detail}", {"value": shown(text), "wants": self.wants, "detail": detail}
        )

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {
            **handler(schema),
            "pattern": f"^({self.pattern})$",
            "maxLength": self.longest,
            "examples": list(self.examples),
        }


ClusterName = Annotated[
    String,
    Named(
        "a cluster name: lower case letters, digits, - and _, beginning with a letter",
        r"[a-z][a-z0-9_-]*",
        40,
        ("hpc",),
    ),
]
DnsLabel = Annotated[
    String,
    Named(
        "a DNS label: lower case letters, digits and -, beginning and ending with a letter or digit",
        _LABEL,
        63,
        ("slurm",),
    ),
]
DnsName = Annotated[
    String,
    Named(
        "a DNS name: labels of at most 63 characters joined by dots, in lower case",
        rf"{_LABEL}(\.{_LABEL})*",
        253,
        ("cluster.local",),
    ),
]
ObjectName = Annotated[
    String,
    Named(
        "the name of a Kubernetes object: lower case letters, digits, - and .",
        r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*",
        253,
        ("slurm-database",),
    ),
]
_HOST = Named(
    "a host name or an IP address",
    rf"{_HOST_LABEL}(\.{_HOST_LABEL})*|[0-9A-Fa-f]*:[0-9A-Fa-f:.]+",
    253,
    ("db.example.com",),
)


def _resolvable(text: str) -> str:
    """What has colons, or ends in a number, is looked up nowhere: it is taken for an address, and has to be one."""
    if ":" in text or text.rpartition(".")[2].isdecimal():
        try:
            ipaddress.ip_address(text)
        except ValueError:
            raise refuse(text, _HOST.wants) from None
    return text


Hostname = Annotated[String, _HOST, AfterValidator(_resolvable)]
FilterName = Annotated[
    String,
    Named(
        "a filter name: lower case letters, digits and -, beginning with a letter and ending with a letter or digit",
        r"[a-z]([-a-z0-9]*[a-z0-9])?",
        40,
        ("system", "compute"),
    ),
]
NodeSetName = Annotated[
    String,
    Named(
        "a NodeSet name: lower case letters, digits and -, beginning with a letter and ending with a letter or digit",
        r"[a-z]([-a-z0-9]*[a-z0-9])?",
        LONGEST_STATEFUL_SET,
        ("worker", "gpu-a100"),
        reserved=("all", "default"),
    ),
]
PartitionName = Annotated[
    String,
    Named(
        "a partition name: letters, digits, - and _, beginning with a letter or digit",
        r"[A-Za-z0-9][A-Za-z0-9_-]*",
        63,
        ("main",),
        reserved=("all", "default"),
    ),
]
SlurmName = Annotated[
    String,
    Named("a name for Slurm: letters, digits, - and _", r"[A-Za-z0-9_][A-Za-z0-9_-]*", 63, ("rack1",)),
]
AccountName = Annotated[
    String,
    Named("an account or QoS name: lower case letters, digits, - and _", r"[a-z0-9_][a-z0-9_-]*", 63, ("physics",)),
]
Feature = Annotated[
    String,
    Named("a feature: letters, digits, _ - and .", r"[A-Za-z0-9_][A-Za-z0-9_.-]*", 63, ("avx512", "ib")),
]
GresName = Annotated[
    String,
    Named("a GRES name: lower case letters, digits and _, beginning with a letter", r"[a-z][a-z0-9_]*", 63, ("gpu",)),
]
GresType = Annotated[
    String,
    Named(
        "a GRES type: lower case letters, digits, _ - and ., and no number, which Slurm takes for a count",
        r"(?![0-9]+[kmgtp]?$)[a-z0-9_][a-z0-9_.-]*",
        63,
        ("a100", "h100"),
        reserved=("no_consume",),
    ),
]
TresName = Annotated[
    String,
    Named(
        "a resource that Slurm counts, such as CPU, Mem or GRES/gpu",
        r"[A-Za-z][A-Za-z0-9_]*(/[A-Za-z0-9_:.-]+)?",
        63,
        ("CPU", "GRES/gpu"),
    ),
]
UserName = Annotated[
    String,
    Named(
        "a user or group name: lower case letters, digits, - and _, beginning with a letter or _",
        r"[a-z_][a-z0-9_-]*",
        32,
        ("researcher",),
    ),
]
LabelKey = Annotated[
    String,
    Named(
        "a Kubernetes label key: an optional prefix with /, then letters, digits, - _ and .",
        rf"({_LABEL}(\.{_LABEL})*/)?{_NAME_PART}",
        317,
        ("topology.kubernetes.io/zone",),
    ),
]
LabelValue = Annotated[
    String,
    Named("a Kubernetes label value: letters, digits, - _ and .", rf"({_NAME_PART})?", 63, ("compute",)),
]
ResourceName = Annotated[
    String,
    Named("a Kubernetes resource name", rf"({_LABEL}(\.{_LABEL})*/)?{_NAME_PART}", 317, ("nvidia.com/gpu",)),
]
ImageReference = Annotated[
    String,
    Named(
        "an image reference",
        r"[A-Za-z0-9]([A-Za-z0-9._:/-]*[A-Za-z0-9])?(@sha256:[0-9a-f]{64})?",
        512,
        ("registry.example.com/slipway/worker:26.05",),
    ),
]
AbsolutePath = Annotated[
    String,
    Named(
        "an absolute path of letters, digits, . _ - + @ : and /",
        r"/|(/(?!\.{1,2}(/|$))[A-Za-z0-9._+@:-]+)+",
        1024,
        ("/srv/slipway",),
    ),
]
WebAddress = Annotated[
    String,
    Named(
        "a web address such as https://wiki.example.com/runbooks",
        rf"https?://{_HOST_LABEL}(\.{_HOST_LABEL})*(:[0-9]{{1,5}})?(/[A-Za-z0-9._~%+@:-]+)*/?",
        1024,
        ("https://wiki.example.com/runbooks",),
    ),
]
