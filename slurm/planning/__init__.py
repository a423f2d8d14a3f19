"""How `slurm.changes.plan` finds its steps: one file for each kind of thing that can change."""
