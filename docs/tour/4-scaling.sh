#!/bin/bash
# From two nodes to four: one line of config, one `pulumi up`; and back. The stack's file is left as it was.
# shellcheck source=docs/tour/lib.sh
source "$(dirname "$0")/lib.sh"

copy=$(mktemp -d)
trap 'rm -r "$copy"' EXIT
file=$copy/Pulumi.$stack.yaml
cp "$config" "$file"

engine() { pulumi "$@" --stack "$stack" --config-file "$file"; }
preview() { # the nodes of slurm.conf, before and after
    engine config set worker.size "$1"
    engine preview --diff --non-interactive | grep -oE '[-+] NodeName=[^ ]+' | sort -u
}
scale() {
    engine config set worker.size "$1"
    engine up --yes --non-interactive | grep -E '^ *(Resources|Duration|~ [0-9]|[0-9]+ unch)'
}

title "4. Scaling"
check "the preview says what will happen" same "+ NodeName=worker-[0-3] - NodeName=worker-[0-1]" preview 4
check "pulumi config set worker.size 4 && pulumi up" scale 4
check "Slurm knows four nodes" same "worker-0 worker-1 worker-2 worker-3" login sinfo --noheader --Node --format=%N
check "one job runs on all of them" same "worker-0 worker-1 worker-2 worker-3" login "srun -N4 hostname | sort"
check "pulumi config set worker.size 2 && pulumi up" scale 2
check "Slurm knows two nodes" eventually same "worker-0 worker-1" login sinfo --noheader --Node --format=%N
