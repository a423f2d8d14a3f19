#!/bin/bash
# From two nodes to four: one line of config, one `pulumi up`; and back. The stack's file is left as it was.
# shellcheck source=docs/tour/lib.sh
source "$(dirname "$0")/lib.sh"

copy=$(mktemp -d)
trap 'rm -r "$copy"' EXIT
file=$copy/Pulumi.$stack.yaml
# The size is set by its own key below, and may be set in one place only.
sed -E '/slipway:worker:/,/^  slipway:[^w]/{s/size: *[0-9]+,? ?//}' "$config" > "$file"

scale() {
    pulumi config set worker.size "$1" --stack "$stack" --config-file "$file"
    pulumi up --yes --non-interactive --stack "$stack" --config-file "$file" | grep -E '^ *(Resources|Duration|~ [0-9]|[0-9]+ unch)'
}
nodes() { [ "$(login sinfo --noheader --format=%D)" = "$1" ]; }

title "4. Scaling"
check "the preview says what will happen" pulumi preview --non-interactive --stack "$stack" --config-file "$config"
check "pulumi config set worker.size 4 && pulumi up" scale 4
check "Slurm knows four nodes" nodes 4
check "one job runs on all of them" login srun -N4 --label hostname
check "pulumi config set worker.size 2 && pulumi up" scale 2
check "Slurm knows two nodes" eventually nodes 2
