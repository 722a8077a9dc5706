"""Moved to policy.py."""

from .policy import Few as Few
from .policy import GradeRule as GradeRule
from .policy import applied as applied
from .policy import refused as refused
