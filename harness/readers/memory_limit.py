"""Memory limit of a file: the free memory of the machine, and of its container."""

from __future__ import annotations

from pathlib import Path

from ..errors import InputError, Problem

_HARMLESS = 64 << 20  # Bytes that a file may always take
MEMORY, GROUPS, MOUNTED = "/proc/meminfo", "/proc/self/cgroup", Path("/sys/fs/cgroup")
_V1 = "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"
_V2 = "memory.max", "memory.current", "inactive_file"


def free_memory() -> int:
    """Return the bytes that are free, on the machine and in its container, if the system tells."""
    free = [1 << 62, *_in_containers()]
    lines = _lines(Path(MEMORY))
    free += [int(line.split()[1]) << 10 for line in lines if line.startswith("MemAvailable:")]
    return max(min(free), _HARMLESS)


def _in_containers() -> list[int]:
    """Free bytes in this process's control group of memory, and in those around it."""
    free = []
    for line in _lines(Path(GROUPS)):
        _, kinds, name = line.split(":", 2)
        if kinds and "memory" not in kinds.split(","):
            continue
        root = MOUNTED / "memory" if kinds else MOUNTED
        # in a container, the path may be the one outside, and its limit is at the root
        group = root / name.lstrip("/")
        folders = [group, *group.parents[: len(group.parts) - len(root.parts)]]
        free += [left for folder in folders if (left := _left(folder, *(_V1 if kinds else _V2)))]
    return free


def _left(folder: Path, limit: str, usage: str, cached: str) -> int | None:
    """Free bytes below a group's limit; pages of files that can go are free."""
    most_bytes, used = "".join(_lines(folder / limit)), "".join(_lines(folder / usage))
    if not (most_bytes.isdecimal() and used.isdecimal()):  # without a limit, it is "max"
        return None
    stat = (line.split() for line in _lines(folder / "memory.stat"))
    can_go = sum(int(value) for name, value in stat if name == cached)
    return max(int(most_bytes) - int(used) + can_go, 1)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except (OSError, ValueError):
        return []


def check_fits(name: str, size: int, times: float = 1) -> None:
    """Raise if `size` unpacked bytes, which take `times` the memory, exceed the free memory."""
    needed = int(size * times)
    if needed > _HARMLESS and needed > (free := free_memory()):
        raise too_large(name, needed, free)


def too_large(name: str, needed: int, free: int) -> InputError:
    """Return the error for a file that needs more memory than is free."""
    message = f"takes {needed / 1e9:,.1f} GB of memory or more, and {free / 1e9:,.1f} GB are free"
    fix = "free memory, raise the container's limit, or split the file"
    return InputError(Problem(name, message, fix=fix, rule="unpacks-too-far"))
