"""Property tests look for wrong results: how long one takes on a busy machine is not judged."""

from hypothesis import HealthCheck, settings

settings.register_profile("longmark", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("longmark")
