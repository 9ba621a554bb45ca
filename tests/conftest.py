import os

from hypothesis import settings

# Enough to find what is wrong often; HYPOTHESIS_PROFILE=thorough looks longer. Deadlines would test the machine.
settings.register_profile("quick", max_examples=40, deadline=None)
settings.register_profile("thorough", max_examples=500, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))

pytest_plugins = ["tests.services", "tests.browser", "tests.simulated"]
