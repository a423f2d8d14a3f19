#!/bin/bash
# Many jobs at once, jobs that wait for each other, and a shell on a node.
# shellcheck source=docs/tour/lib.sh
source "$(dirname "$0")/lib.sh"

array() {
    login bash -s << 'JOB'
set -eu
mkdir -p ~/tour && cd ~/tour && rm -f square-*
sbatch --quiet --wait --array=1-4 --output=square-%a --wrap 'echo $((SLURM_ARRAY_TASK_ID * SLURM_ARRAY_TASK_ID))'
cat square-[1-4] | xargs
JOB
}
chain() {
    login bash -s << 'JOB'
set -eu
cd ~/tour
first=$(sbatch --parsable --output=/dev/null --wrap 'sleep 1; echo prepared > chain.txt')
sbatch --quiet --wait --dependency="afterok:$first" --output=/dev/null --wrap 'echo computed >> chain.txt'
xargs < chain.txt
JOB
}
shell() { printf 'tty\nhostname\nexit\n' | login -tt srun --pty bash --norc | tr -d '\r'; }

title "3. Arrays, dependencies and interactive work"
check "an array of four squares: 1 4 9 16" array
check "a job that waits for another: prepared computed" chain
check "salloc, and steps inside the allocation" login "salloc --quiet -N1 srun hostname"
check "a shell with a terminal on a node" shell
