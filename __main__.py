"""Load the settings, make the cluster, export what a user needs."""

import os

import pulumi
from pydantic import ValidationError

from components.probe import Probe
from config import Settings
from config.settings import problems

try:
    settings = Settings.load(pulumi.runtime.config.CONFIG.get(), os.environ)
except ValidationError as error:
    raise pulumi.RunError(problems(error)) from None

probe = Probe(settings.cluster.name, settings)
pulumi.export("namespace", probe.namespace)
pulumi.export("pods", probe.pods)
