#!/bin/bash
# What the scripts of the tour share. They run in the environment of `eval "$(uv run lab env)"`, or in any other in which
# `pulumi` and `kubectl` reach the stack. TOUR_STACK and TOUR_CONFIG choose another stack and its file than dev's.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
stack=${TOUR_STACK:-dev}
config=${TOUR_CONFIG:-Pulumi.$stack.yaml}
export config
namespace=$(pulumi stack output namespace --stack "$stack")

export namespace

title() { printf '\n== %s\n' "$*"; }

# What is checked, and the command that checks it. Its output is shown; a failure ends the tour.
check() {
    local what=$1 output
    shift
    if output=$("$@" 2>&1); then
        printf 'ok    %s\n' "$what"
    else
        printf 'FAIL  %s: %s\n' "$what" "$*"
        printf '%s\n' "$output" | sed 's/^/      /'
        exit 1
    fi
    [ -z "$output" ] || printf '%s\n' "$output" | sed 's/^/      /'
}

# A command on the login node, as a researcher.
login() {
    local target
    read -r -a target <<< "$(pulumi stack output ssh --stack "$stack")"
    ssh ${SLIPWAY_LAB_SSH_KEY:+-i "$SLIPWAY_LAB_SSH_KEY"} -o StrictHostKeyChecking=no \
        -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes "${target[@]:1}" "$@"
}

# Until a command succeeds, for at most a minute or as many seconds as are given first.
eventually() {
    local seconds=60 end
    if [[ $1 =~ ^[0-9]+$ ]]; then seconds=$1; shift; fi
    end=$((SECONDS + seconds))
    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 1
    done
}
