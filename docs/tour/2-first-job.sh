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
#SBATCH --job-name=hello --output=hello-%j.txt --nodelist=worker-1
echo "$SLURM_JOB_NAME of $USER runs on $(hostname) in $PWD"
SCRIPT
job=$(sbatch --parsable --wait hello.sh)
cat "hello-$job.txt"
JOB
}

title "2. The first job"
# The login node expands it.
# shellcheck disable=SC2016
check "ssh gets in with a key, and home is /home/<user>" \
    same "$user in /home/$user on login-0" login 'echo "$USER in $PWD on $(hostname)"'
check "commands are where they belong" same "/usr/bin/sbatch /usr/bin/srun /usr/bin/squeue /usr/bin/sinfo" \
    login which sbatch srun squeue sinfo
check "the nodes are listed" same "worker-0 worker-1" login sinfo --noheader --Node --format=%N
check "a command runs on a node" same "worker-0" login srun --nodelist=worker-0 hostname
check "a batch job writes its output where it was submitted" \
    same "hello of $user runs on worker-1 in /home/$user/tour" batch_job
check "the queue is empty again" eventually same "" login squeue --noheader
