#!/bin/bash
# What the scripts of the tour share. They run in the environment of `eval "$(uv run lab env)"`, or in any other in which
# `pulumi` and `kubectl` reach the stack. TOUR_STACK and TOUR_CONFIG choose another stack of two workers than dev, and its
# file.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
stack=${TOUR_STACK:-dev}
config=${TOUR_CONFIG:-Pulumi.$stack.yaml}
namespace=$(pulumi stack output namespace --stack "$stack")
read -r -a target <<< "$(pulumi stack output ssh --stack "$stack")"
user=${target[-1]%@*}
export config namespace user

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

# A command that must succeed and print these words, on whatever lines.
same() {
    local expected=$1 output
    shift
    output=$("$@") || return
    [ -z "$output" ] || printf '%s\n' "$output"
    [ "$(xargs <<< "$output")" = "$expected" ] || { printf 'and not: %s\n' "$expected"; return 1; }
}

# A command on the login node, as a researcher.
login() {
    ssh ${SLIPWAY_LAB_SSH_KEY:+-i "$SLIPWAY_LAB_SSH_KEY"} -o StrictHostKeyChecking=no \
        -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o BatchMode=yes "${target[@]:1}" "$@"
}

# Until a command succeeds, for at most a minute: what it printed last.
eventually() {
    local output end=$((SECONDS + 60))
    until output=$("$@"); do
        [ $SECONDS -lt $end ] || { printf '%s\n' "$output"; return 1; }
        sleep 1
    done
    [ -z "$output" ] || printf '%s\n' "$output"
}
