"""Every target by its name."""

from __future__ import annotations

from . import reading, texts
from .target import Target

TARGETS: dict[str, Target] = {one.name: one for one in (*reading.TARGETS, *texts.TARGETS)}
