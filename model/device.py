"""Where a model runs, and whether it fits there."""

from __future__ import annotations

import os
from pathlib import Path

import torch

from model.errors import FileError

DEVICES = ("auto", "cpu", "cuda", "mps")
GIB = 1 << 30


def choose_device(device: str) -> str:
    """Return the device for "auto" (CUDA if there is one), or the one that is named.

    Raises `ValueError` for one that is unknown or that this machine lacks.
    """
    kind = device.partition(":")[0]
    if kind not in DEVICES:
        raise ValueError(f"device must be one of {', '.join(DEVICES)}, not {device[:40]!r}")
    if kind == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    if kind == "cuda" and not torch.cuda.is_available():
        raise ValueError(
            f"device {device!r}: PyTorch {torch.__version__} finds no CUDA GPU here; take cpu or "
            "auto"
        )
    if kind == "mps" and not torch.backends.mps.is_available():
        raise ValueError(
            f"device {device!r}: PyTorch {torch.__version__} finds no Apple GPU here; take cpu or "
            "auto"
        )
    return device


def check_memory(path: Path, needed: int, device: str) -> None:
    """Raise `FileError` if a model of so many bytes fits neither the memory nor the device."""
    free = free_memory()
    if free is not None and needed > free:
        raise FileError(path, _too_large(needed, "of memory", free))
    if device.startswith("cuda"):
        free, _ = torch.cuda.mem_get_info(torch.device(device))
        if needed > free:
            raise FileError(path, _too_large(needed, f"on the device {device}", free))


def _too_large(needed: int, where: str, free: int) -> str:
    return (
        f"its weights take {needed / GIB:,.1f} GiB {where}, but {free / GIB:,.1f} GiB are free; a "
        "smaller dtype (bfloat16) halves what float32 takes"
    )


def free_memory() -> int | None:
    """Return how many bytes this process can still take, within its cgroup; None: unknown."""
    limits = [size for size in (_system_memory(), _cgroup_memory()) if size is not None]
    return min(limits, default=None)


def _system_memory() -> int | None:
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            name, _, size = line.partition(":")
            if name == "MemAvailable":
                return int(size.split()[0]) << 10
    try:  # all memory, where nothing says what is free
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _cgroup_memory(root: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return what the limit of a container leaves: version 2, then version 1 of cgroups."""
    for limit, used, reclaimable in (
        ("memory.max", "memory.current", "inactive_file"),
        (
            "memory/memory.limit_in_bytes",
            "memory/memory.usage_in_bytes",
            "total_inactive_file",
        ),
    ):
        try:
            most = (root / limit).read_text().strip()
            taken = int((root / used).read_text())
            rows = (root / limit).with_name("memory.stat").read_text().splitlines()
        except OSError:
            continue
        cached = next((int(row.split()[1]) for row in rows if row.split()[0] == reclaimable), 0)
        return None if most == "max" else max(0, int(most) - taken + cached)
    return None
