#!/bin/bash
# How it all stands at the end, on Slurm's side and on Kubernetes'.
# shellcheck source=docs/tour/lib.sh
source "$(dirname "$0")/lib.sh"

no_change() {
    pulumi preview --non-interactive --expect-no-changes --stack "$stack" --config-file "$config" > /dev/null
    echo "nothing to do"
}

title "5. Final status"
check "slurmctld answers" login scontrol ping
check "every node is ready for jobs" login sinfo --Node --long
check "no job is stuck" login squeue
check "pods and their restarts" kubectl get pods -n "$namespace"
check "what is deployed is what the stack's file says" no_change
printf '\nThe tour is complete.\n'
