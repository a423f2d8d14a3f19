#!/bin/sh
# prolog.sh of cluster prod, rendered by Slipway.
# slurmctld sends it to all workers. They run it before each job, and HealthCheckProgram reads from it what to check.
exec /usr/local/sbin/health prolog "$0"
#@ limits
CHECKS="jail disk memory gpus clock"
TIMEOUT="20"
MOUNTS="/mnt/jail /mnt/jail/home /mnt/jail/scratch /mnt/jail/datasets"
DISK_FREE="5"
MEMORY_FREE="1"
MEMORY_MIB="worker=491520 a100=983040 h100=1843200"
GPUS="a100=8 h100=8"
CLOCK_OFFSET="30"
REBOOT="yes"
#@ check infiniband
#!/bin/sh
ls /sys/class/infiniband/* > /dev/null 2>&1 || exit 0
grep -q ACTIVE /sys/class/infiniband/*/ports/1/state || { echo "no InfiniBand port is active"; exit 1; }
