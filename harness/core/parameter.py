"""Moved to settings.py and arguments.py."""

from .arguments import MOST as MOST
from .settings import SHOWN as SHOWN
from .settings import Parameter as Parameter
from .settings import Range as Range
