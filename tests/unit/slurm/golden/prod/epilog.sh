#!/bin/sh
# epilog.sh of cluster prod, rendered by Slipway.
# slurmctld sends it to all workers. They run it after each job.
exec /usr/local/sbin/health epilog "$0"
