"""Load the settings, make the cluster, export what a user needs."""

import os

import pulumi

from components.change import find
from components.cluster import SlurmCluster
from config import ConfigProblems, Settings

try:
    settings = Settings.load(pulumi.runtime.config.CONFIG.get(), os.environ)
except ConfigProblems as problems:
    raise pulumi.RunError(str(problems)) from None

for output, value in SlurmCluster(settings.cluster.name, settings, find(settings)).outputs.items():
    pulumi.export(output, value)
