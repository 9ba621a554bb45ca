pytest_plugins = ["tests.services"]
