"""Pulumi component resources, one file per component."""
