"""Resource options that components share."""

import pulumi

# Kubernetes starts the pods; whether the cluster then works is verified on Slurm itself, once, at the end.
NO_WAIT = {"pulumi.com/skipAwait": "true"}


def child(parent: pulumi.Resource, *after: pulumi.Resource) -> pulumi.ResourceOptions:
    """Part of a component, made after other resources."""
    return pulumi.ResourceOptions(parent=parent, depends_on=list(after))


def kept(parent: pulumi.Resource, keeper: pulumi.ProviderResource | None) -> pulumi.ResourceOptions:
    """Part of a component that holds data. With a keeper it outlives the stack, and the next one takes it over."""
    if keeper is None:
        return child(parent)
    return pulumi.ResourceOptions(parent=parent, provider=keeper, retain_on_delete=True)
