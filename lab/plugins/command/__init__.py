"""The command provider, `pulumi-resource-command`."""
