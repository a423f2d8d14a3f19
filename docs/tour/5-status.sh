#!/bin/bash
# How it all stands at the end, on Slurm's side and on Kubernetes'.
# shellcheck source=docs/tour/lib.sh
source "$(dirname "$0")/lib.sh"

no_change() {
    pulumi preview --non-interactive --expect-no-changes --stack "$stack" --config-file "$config" > /dev/null || return
    echo "nothing to do"
}

title "5. Final status"
check "slurmctld answers" login scontrol ping
check "every node is ready for jobs" eventually same "worker-0 idle worker-1 idle" \
    login "sinfo --noheader --Node --format='%N %T'"
check "no job is stuck" eventually same "" login squeue --noheader
check "every pod is ready" kubectl wait -n "$namespace" --for=condition=Ready --timeout=60s pod \
    -l "app.kubernetes.io/name in (controller,worker,login)"
check "what is deployed is what the stack's file says" same "nothing to do" no_change
printf '\nThe tour is complete.\n'
