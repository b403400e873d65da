"""The snapshot files of a run, and how to save one as a bundle. Imports no training code."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors.torch import load_file

from model.bundle.weights import CARD, TRAINING, save_bundle
from model.live.options import LiveOptions
from model.zoo.registry import DIRECTION, tokenizer_of

MODEL = "model."  # prefix of the parameters' names in a saved state


def state_path(folder: Path, step: int) -> Path:
    """Return the path of the state at a step: weights, optimizer moments, random state."""
    return folder / "snapshots" / f"{step:06d}.state.safetensors"


def trace_path(folder: Path, step: int, probe: int) -> Path:
    """Return the path of the trace of a fixed input at a step."""
    return folder / "snapshots" / f"{step:06d}.{probe}.trace.safetensors"


def keep(folder: Path, step: int, options: LiveOptions, name: str, card: str, bundle: Path) -> None:
    """Write a snapshot's model as a bundle. Raises `FileNotFoundError` if there is none."""
    state = load_file(state_path(folder, step))
    weights = {
        key.removeprefix(MODEL): value for key, value in state.items() if key.startswith(MODEL)
    }
    tokenizer = tokenizer_of(options.task_made)
    save_bundle(bundle, weights, options.config(len(tokenizer)), tokenizer, name)
    (bundle / CARD).write_text(card, encoding="utf-8")
    told = {"step": step, "directions": [DIRECTION]}
    (bundle / TRAINING).write_text(json.dumps(told) + "\n", encoding="utf-8")
