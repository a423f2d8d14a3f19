#!/bin/bash
# What runs, and where: every pod on the nodes of its filter, and none on the control plane.
# shellcheck source=docs/tour/lib.sh
source "$(dirname "$0")/lib.sh"

off_the_control_plane() {
    local control_plane
    control_plane=$(kubectl get nodes -l node-role.kubernetes.io/control-plane -o name | cut -d/ -f2)
    ! kubectl get pods -n "$namespace" -o jsonpath='{.items[*].spec.nodeName}' | tr ' ' '\n' | grep -qxF "$control_plane"
}

title "1. The cluster"
check "the namespace is there" kubectl get namespace "$namespace"
check "controller, workers and login run" kubectl get pods -n "$namespace" -o wide
check "all of them are ready" kubectl wait -n "$namespace" --for=condition=Ready --timeout=60s pod \
    -l "app.kubernetes.io/name in (controller,worker,login)"
check "none is on a control-plane node" off_the_control_plane
check "the queue and the shared root are on volumes" kubectl get pvc -n "$namespace"
check "the login nodes are reached by a Service" kubectl get service -n "$namespace" login
check "the shared root was filled by a Job" kubectl wait -n "$namespace" --for=condition=Complete --timeout=5s job/populate-jail
