from tests.browser import chrome, site

__all__ = ["chrome", "site"]
