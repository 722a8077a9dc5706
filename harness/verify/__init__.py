"""Every digit of a folder of results derived anew from the inputs, and compared."""

from .flow import verify

__all__ = ["verify"]
