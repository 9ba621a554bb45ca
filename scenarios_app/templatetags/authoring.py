"""What templates need of plain data and cannot say themselves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template

register = template.Library()


@register.filter
def of(values: Mapping[Any, Any], key: Any) -> Any:
    """The value of that key; None without one."""
    return values.get(key)
