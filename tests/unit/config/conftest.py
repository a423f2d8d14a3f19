"""Properties are about what holds, not about how busy the machine is."""

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
