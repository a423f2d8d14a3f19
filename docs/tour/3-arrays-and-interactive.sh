#!/bin/bash
# Many jobs at once, jobs that wait for each other, and a shell on a node.
# shellcheck source=docs/tour/lib.sh
source "$(dirname "$0")/lib.sh"

array() {
    login bash -s << 'JOB'
set -eu
mkdir -p ~/tour && cd ~/tour && rm -f square-*
sbatch --quiet --wait --array=1-4 --output=square-%a --wrap 'echo $((SLURM_ARRAY_TASK_ID * SLURM_ARRAY_TASK_ID))'
cat square-[1-4]
JOB
}
chain() {
    login bash -s << 'JOB'
set -eu
mkdir -p ~/tour && cd ~/tour && rm -f chain.txt
first=$(sbatch --parsable --output=/dev/null --wrap 'sleep 1; echo prepared > chain.txt')
sbatch --quiet --wait --dependency="afterok:$first" --output=/dev/null --wrap 'echo computed >> chain.txt'
cat chain.txt
JOB
}
# The shell on the node expands it, and shows what is typed, as it stands, too.
# shellcheck disable=SC2016
shell() {
    printf '%s\n' 'tty -s && echo "a terminal on $(hostname)"' exit |
        login -tt srun --nodelist=worker-1 --pty bash --norc | grep -oE 'a terminal on worker-[0-9]+'
}

title "3. Arrays, dependencies and interactive work"
check "an array of four squares" same "1 4 9 16" array
check "a job that waits for another" same "prepared computed" chain
check "salloc, and steps inside the allocation" same "worker-0" \
    login salloc --quiet --nodelist=worker-0 srun hostname
check "a shell with a terminal on a node" same "a terminal on worker-1" shell
