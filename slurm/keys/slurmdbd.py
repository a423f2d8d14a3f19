"""Keys of slurmdbd.conf: for most of them it is restarted, and slurmctld keeps what it has to say until it is back."""

from slurm.keys.entry import Table, drain_first, refused, restart_slurmdbd
from slurm.keys.values import flag, level, number, options, word

_RESTART = "slurmdbd reads it when it starts; slurmctld keeps its messages until it is back."
_ARCHIVE = "slurmdbd reads it when it starts; the next purge archives, or does not, what it removes."
_PURGE = "slurmdbd reads it when it starts; older records are removed from the database at the next purge, for good."
_STORAGE = "slurmdbd opens its connections to the database when it starts."
_EVERYONE = "slurmctld and slurmdbd have to change to it together, and so does all that slurmctld talks to."

SLURMDBD: Table = {
    "AllowNoDefAcct": restart_slurmdbd(_RESTART, flag, "no"),
    "AllResourcesAbsolute": restart_slurmdbd(_RESTART, flag, "no"),
    "ArchiveDir": restart_slurmdbd(_ARCHIVE, default="/tmp"),  # noqa: S108 -- Slurm's default, not a file of ours
    "ArchiveScript": restart_slurmdbd(_ARCHIVE),
    **{
        f"Archive{what}": restart_slurmdbd(_ARCHIVE, flag, "no")
        for what in ("Events", "Jobs", "JobScript", "JobEnv", "Resvs", "Steps", "Suspend", "TXN", "Usage")
    },
    "AuthAltParameters": restart_slurmdbd(_RESTART),
    "AuthAltTypes": restart_slurmdbd(_RESTART, options),
    "AuthInfo": restart_slurmdbd(_RESTART, options),
    "AuthType": drain_first(_EVERYONE, word, also=("restart-controller", "restart-workers")),
    "CommitDelay": restart_slurmdbd(_RESTART, number),
    "CommunicationParameters": restart_slurmdbd(_RESTART, options),
    "DbdAddr": restart_slurmdbd(_RESTART),
    "DbdBackupHost": restart_slurmdbd(_RESTART),
    "DbdHost": restart_slurmdbd(_RESTART),
    "DbdPort": restart_slurmdbd(f"{_RESTART} AccountingStoragePort in slurm.conf has to be the same.", number, "6819"),
    "DebugFlags": restart_slurmdbd(_RESTART, options),
    "DebugLevel": restart_slurmdbd(_RESTART, level, "info"),
    "DebugLevelSyslog": restart_slurmdbd(_RESTART, level),
    "DefaultQOS": restart_slurmdbd(_RESTART),
    "DisableArchiveCommands": restart_slurmdbd(_RESTART, flag, "no"),
    "DisableCoordDBD": restart_slurmdbd(_RESTART, flag, "no"),
    "DisableRollups": restart_slurmdbd(_RESTART, flag, "no"),
    "HashPlugin": drain_first(_EVERYONE, word, "hash/k12", also=("restart-controller", "restart-workers")),
    "LogFile": restart_slurmdbd(_RESTART),
    "LogTimeFormat": restart_slurmdbd(_RESTART, word),
    "MaxPurgeLimit": restart_slurmdbd(_RESTART, number),
    "MaxQueryTimeRange": restart_slurmdbd(_RESTART),
    "MessageTimeout": restart_slurmdbd(_RESTART, number, "10"),
    "Parameters": restart_slurmdbd(_RESTART, options),
    "PidFile": restart_slurmdbd(_RESTART),
    "PluginDir": restart_slurmdbd(_RESTART),
    "PrivateData": restart_slurmdbd(_RESTART, options),
    **{
        f"Purge{what}After": restart_slurmdbd(_PURGE, word)
        for what in ("Event", "Job", "JobScript", "JobEnv", "Resv", "Step", "Suspend", "TXN", "Usage")
    },
    "SlurmUser": refused("Keys, files and pods belong to the present user, and slurmctld trusts no other."),
    "StorageBackupHost": restart_slurmdbd(_STORAGE),
    "StorageHost": restart_slurmdbd(f"{_STORAGE} The database has to have been moved there before."),
    "StorageLoc": refused(
        "Another database has none of the accounts, limits and history, and slurmctld would find no cluster in it. "
        "Rename the database with its own tools while slurmdbd is down, or set it back."
    ),
    "StorageParameters": restart_slurmdbd(_STORAGE),
    "StoragePass": restart_slurmdbd(_STORAGE, secret=True),
    "StoragePassScript": restart_slurmdbd(_STORAGE),
    "StoragePort": restart_slurmdbd(_STORAGE, number),
    "StorageType": restart_slurmdbd(_STORAGE, word),
    "StorageUser": restart_slurmdbd(_STORAGE),
    "TCPTimeout": restart_slurmdbd(_RESTART, number, "2"),
    "TLSParameters": restart_slurmdbd(_RESTART, options),
    "TLSType": drain_first(_EVERYONE, word, "tls/none", also=("restart-controller", "restart-workers")),
    "TrackSlurmctldDown": restart_slurmdbd(_RESTART, flag, "no"),
    "TrackWCKey": restart_slurmdbd(_RESTART, flag, "no"),
}
