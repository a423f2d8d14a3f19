"""Values that a stack config is made of, each checked when it is read and rendered the way its reader wants it."""

from config.types.count import CountOrPercent
from config.types.cpu import CpuCount, CpuQuantity
from config.types.duration import Duration, Interval, Timeout
from config.types.limit import CountLimit, SizeLimit
from config.types.memory import MemorySize
from config.types.names import (
    AbsolutePath,
    AccountName,
    ClusterName,
    DnsLabel,
    DnsName,
    Feature,
    FilterName,
    GresName,
    GresType,
    Hostname,
    ImageReference,
    LabelKey,
    LabelValue,
    NodeSetName,
    ObjectName,
    PartitionName,
    ResourceName,
    SlurmName,
    TresName,
    UserName,
    WebAddress,
)
from config.types.scalars import Choice, Count, Integer, Port, String, Switch
from config.types.text import Script, SlurmValue, Text

__all__ = [
    "AbsolutePath",
    "AccountName",
    "Choice",
    "ClusterName",
    "Count",
    "CountLimit",
    "CountOrPercent",
    "CpuCount",
    "CpuQuantity",
    "DnsLabel",
    "DnsName",
    "Duration",
    "Feature",
    "FilterName",
    "GresName",
    "GresType",
    "Hostname",
    "ImageReference",
    "Integer",
    "Interval",
    "LabelKey",
    "LabelValue",
    "MemorySize",
    "NodeSetName",
    "ObjectName",
    "PartitionName",
    "Port",
    "ResourceName",
    "Script",
    "SizeLimit",
    "SlurmName",
    "SlurmValue",
    "String",
    "Switch",
    "Text",
    "Timeout",
    "TresName",
    "UserName",
    "WebAddress",
]
