"""Load the settings, make the cluster, export what a user needs."""

import os

import pulumi
from pydantic import ValidationError

from components.probe import Probe
from config import Settings
from config.settings import problems

config = pulumi.Config()
values = {key: config.get_object(key) for key in ("cluster", "nodeFilters", "images")}
try:
    settings = Settings.load({key: value for key, value in values.items() if value is not None}, os.environ)
except ValidationError as error:
    raise pulumi.RunError(problems(error)) from None

probe = Probe(settings.cluster.name, settings)
pulumi.export("namespace", probe.namespace)
pulumi.export("pods", probe.pods)
