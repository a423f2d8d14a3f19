"""The embedded default: the Pulumi tools and a real Kubernetes of several nodes on this machine."""
