#!/bin/bash
# What runs, and where: every pod on the nodes of its filter, and none on the control plane.
# shellcheck source=docs/tour/lib.sh
source "$(dirname "$0")/lib.sh"

pods() {
    local columns='KIND:.metadata.labels.app\.kubernetes\.io/name,POD:.metadata.name,PHASE:.status.phase'
    kubectl get pods -n "$namespace" -l "app.kubernetes.io/name in (controller,worker,login)" --no-headers \
        --output="custom-columns=$columns" | sort
}
on_the_control_plane() {
    local nodes used
    nodes=$(kubectl get nodes -l node-role.kubernetes.io/control-plane --output='jsonpath={.items[*].metadata.name}') || return
    used=$(kubectl get pods -n "$namespace" --output='jsonpath={.items[*].spec.nodeName}') || return
    comm -12 <(xargs -n1 <<< "$nodes" | sort -u) <(xargs -n1 <<< "$used" | sort -u)
}
states_of() { kubectl get "$1" -n "$namespace" --output='jsonpath={.items[*].status.phase}' | xargs -n1 | sort -u; }

title "1. The cluster"
check "the namespace is there" same "Active" kubectl get namespace "$namespace" --output='jsonpath={.status.phase}'
check "controller, workers and login run" same \
    "controller controller-0 Running login login-0 Running worker worker-0 Running worker worker-1 Running" pods
check "all of them are ready" kubectl wait -n "$namespace" --for=condition=Ready --timeout=60s pod \
    -l "app.kubernetes.io/name in (controller,worker,login)"
check "none is on a control-plane node" same "" on_the_control_plane
check "the queue and the shared root are on volumes" same "Bound" states_of pvc
check "the login nodes are reached by a Service" same "login ssh" \
    kubectl get service -n "$namespace" login --output='jsonpath={.metadata.name} {.spec.ports[*].name}'
check "the shared root was filled by a Job" kubectl wait -n "$namespace" --for=condition=Complete --timeout=5s job/populate-jail
