"""What command resources run against a live cluster, and the command line for people."""
