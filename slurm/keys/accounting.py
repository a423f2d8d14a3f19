"""Keys of slurm.conf about records: accounting storage, gathering of usage, and job completion."""

from slurm.keys.entry import Table, reconfigure, restart_controller, restart_workers
from slurm.keys.values import flag, names, number, options, word

_CONNECTION = "The slurmctld that a reconfigure starts opens its connection to slurmdbd anew."
_COMPLETION = "The job completion plugin is loaded anew at a reconfigure; jobs that end later are written by it."
_GATHER = "slurmd and slurmctld read it at a reconfigure; running steps go on being measured as they were."

ACCOUNTING: Table = {
    "AccountingStorageBackupHost": reconfigure(_CONNECTION),
    "AccountingStorageEnforce": reconfigure(
        "Limits are enforced as the file says after a reconfigure; jobs that run already are not cancelled by it.",
        options,
        "none",
    ),
    "AccountingStorageExternalHost": reconfigure(
        "The slurmctld that a reconfigure starts registers with the external slurmdbds.", names
    ),
    "AccountingStorageHost": reconfigure(_CONNECTION),
    "AccountingStorageParameters": reconfigure("Options of the accounting storage are read at a reconfigure.", names),
    "AccountingStoragePass": reconfigure(_CONNECTION, secret=True),
    "AccountingStoragePort": reconfigure(_CONNECTION, number, "6819"),
    "AccountingStorageTRES": reconfigure(
        "A reconfigure registers the trackable resources with slurmdbd; jobs that run keep what they were charged for.",
        options,
    ),
    "AccountingStorageType": restart_controller(
        "slurmctld asks slurmdbd for accounts and trackable resources when it starts, and stops if there are none.",
        word,
    ),
    "AccountingStoreFlags": reconfigure("What is stored of a job is decided when it is submitted or ends.", options),
    "AcctGatherEnergyType": restart_workers("slurmd starts the gathering of energy data once, when it starts.", word),
    "AcctGatherFilesystemType": reconfigure(_GATHER, word),
    "AcctGatherInterconnectType": reconfigure(_GATHER, word),
    "AcctGatherNodeFreq": reconfigure(_GATHER, number, "0"),
    "AcctGatherProfileType": reconfigure(_GATHER, word),
    "JobAcctGatherFrequency": reconfigure(_GATHER, options, "30"),
    "JobAcctGatherParams": reconfigure(_GATHER, options),
    "JobAcctGatherType": reconfigure(_GATHER, word),
    "JobCompHost": reconfigure(_COMPLETION),
    "JobCompLoc": reconfigure(_COMPLETION),
    "JobCompParams": reconfigure(_COMPLETION),
    "JobCompPass": reconfigure(_COMPLETION, secret=True),
    "JobCompPassScript": reconfigure(_COMPLETION),
    "JobCompPort": reconfigure(_COMPLETION, number),
    "JobCompType": reconfigure(_COMPLETION, word),
    "JobCompUser": reconfigure(_COMPLETION),
    "MaxDBDMsgs": reconfigure("The length of the queue of messages to slurmdbd is read at a reconfigure.", number),
    "TrackWCKey": reconfigure("Workload keys are tracked for jobs that are submitted after a reconfigure.", flag, "no"),
}
