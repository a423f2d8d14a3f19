"""pulumi-resource-kubernetes: API objects of any kind as Pulumi resources, by discovery and server-side apply.

`provider` answers the engine for resources and `configured` for the provider itself; what they are made of:

    options, connection, kubeconfig, credentials    which cluster, as whom, and what if it does not answer
    client, discovery, watching, cluster            REST, kinds, list and watch
    kinds, wishes, names, inputs, diff, replace     what the program asks for, and what a change of it means
    previewing, operations, applying, ownership     dry runs; create, update, delete; field managers
    checkpoint, reading, drift                      what is stored, and what somebody else changed
    waiting, verdict, readiness_*, pods, diagnose   when an object is ready, and why it is not
"""
