"""Starts engine processes from the settings, before any slow import.

Apart from `app.engine.start_processes`, which engine processes import too: they need no settings,
which take 0.3 s to import.
"""

import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from app.engine.child_process import LoadCatalog, Opening
from app.engine.start_processes import Launcher, launch
from app.http.log_format import logging_of
from app.settings import Settings

# Without one of these, no process on Linux can reach a CUDA GPU; /dev/dxg is WSL's.
CUDA_DEVICES = ("nvidia[0-9]*", "dxg")


def begin_launch(settings: Settings) -> Future[list[Launcher]]:
    """Start `launch_engines` on a thread, where it waits for another process to import PyTorch."""
    thread = ThreadPoolExecutor(1, thread_name_prefix="launch")
    launching = thread.submit(launch_engines, settings)
    thread.shutdown(wait=False)
    return launching


def launch_engines(settings: Settings) -> list[Launcher]:
    """Begin to open the models for all engines of the settings.

    None are started if models run in a cluster or on threads of the server.
    """
    if settings.ray_address:
        return []
    gpus, cores = _gpus(settings.device), _cores()
    count = settings.engines
    if count is None:
        count = gpus or max(1, cores // 2)
    load = load_catalog(settings)
    prepare = logging_of(settings)
    threads = max(1, cores // (2 * max(1, count)))  # the other half is for drafting and serving
    devices = [n % gpus if gpus else None for n in range(count)]
    return launch(
        [Opening(load, prepare, threads, device, settings.max_free_bytes) for device in devices]
    )


def load_catalog(settings: Settings) -> LoadCatalog:
    """Return a loader for the models that the settings name."""
    drafts = settings.data_dir / "cache" / "drafts" if settings.draft else None
    return LoadCatalog(
        settings.bundles,
        settings.device,
        settings.max_models,
        drafts,
        settings.zoo_bundles,
        settings.data_dir / "kept",
        settings.max_pass_bytes,
        settings.pass_precision,
        settings.dtype,
        settings.download,
    )


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _gpus(device: str) -> int:
    """Count the GPUs to use; imports PyTorch only if the system may have one."""
    if device == "cpu":
        return 0
    if sys.platform == "linux" and not any(
        device for pattern in CUDA_DEVICES for device in Path("/dev").glob(pattern)
    ):
        return 0
    import torch

    return torch.cuda.device_count()
