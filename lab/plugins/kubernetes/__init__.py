"""pulumi-resource-kubernetes: API objects of any kind as Pulumi resources, by discovery and server-side apply.

`provider.py` answers the engine; everything below it knows Kubernetes and not Pulumi:

    options, kubeconfig, credentials   which cluster, as whom
    client, discovery, watching        REST, kinds, list-and-watch
    operations, ownership              create, update, delete, field managers
    names, diff, replace, checkpoint   what the engine compares and stores
    waiting, readiness_*, diagnose     when an object is ready, and why it is not
"""
