"""Moved to systems.py."""

from .systems import key_of as key_of
from .systems import lacking as lacking
from .systems import pooled as pooled
from .systems import whole_name as whole_name
