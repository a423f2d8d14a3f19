"""Load the settings, make the cluster, export what a user needs."""

import os

import pulumi

from components.probe import Probe
from config import ConfigProblems, Settings

try:
    settings = Settings.load(pulumi.runtime.config.CONFIG.get(), os.environ)
except ConfigProblems as problems:
    raise pulumi.RunError(str(problems)) from None

probe = Probe(settings.cluster.name, settings)
pulumi.export("namespace", probe.namespace)
pulumi.export("pods", probe.pods)
