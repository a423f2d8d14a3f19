"""Serves Slurm Bridge, which knows neither how a token for Slurm is made nor which machines are lent.

It remembers nothing that it needs: every round begins with what Kubernetes says now, so that it may be killed at any
moment."""
