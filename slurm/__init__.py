"""Pure Python: settings to slurm.conf and friends, hostlists, and the plan of a change."""
