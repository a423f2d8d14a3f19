#!/bin/bash
# Log in, look around, run the first job.
# shellcheck source=docs/tour/lib.sh
source "$(dirname "$0")/lib.sh"

batch_job() {
    login bash -s << 'JOB'
set -eu
mkdir -p ~/tour && cd ~/tour
cat > hello.sh << 'SCRIPT'
#!/bin/bash
#SBATCH --job-name=hello --output=hello-%j.txt
echo "job $SLURM_JOB_ID of $USER runs on $(hostname) in $PWD"
SCRIPT
job=$(sbatch --parsable --wait hello.sh)
cat "hello-$job.txt"
JOB
}

title "2. The first job"
# The login node expands it.
# shellcheck disable=SC2016
check "ssh gets in with a key, and home is /home/<user>" login 'echo "$USER in $PWD on $(hostname)"'
check "commands are where they belong" login which sbatch srun squeue sinfo scontrol
check "the nodes are listed" login sinfo
check "a command runs on a node" login srun hostname
check "a batch job writes its output where it was submitted" batch_job
check "the queue is empty again" login squeue
