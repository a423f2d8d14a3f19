"""Looks after nodes from beside slurmctld: what Kubernetes does to machines is told to Slurm, pods whose slurmd is
stuck are replaced, and machines that are to be rebooted are marked for the platform.

It remembers nothing that it needs: every round begins with what Slurm and Kubernetes say now, so that it may be killed
at any moment. Drains of its own have reasons that begin with `slipway:`; those of others are left alone."""
