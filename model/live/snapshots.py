"""A run's snapshots in its folder, and a model made of one. Nothing here trains."""

from __future__ import annotations

import json
from pathlib import Path

from safetensors.torch import load_file

from model.bundle.weights import CARD, TRAINING, save_bundle
from model.live.options import LiveOptions
from model.zoo.registry import DIRECTION, tokenizer_of

MODEL = "model."  # what names of parameters begin with in a state


def state_path(folder: Path, step: int) -> Path:
    """Where the state at a step is: weights, moments, random numbers."""
    return folder / "snapshots" / f"{step:06d}.state.safetensors"


def trace_path(folder: Path, step: int, probe: int) -> Path:
    """Where the trace of a fixed input at a step is."""
    return folder / "snapshots" / f"{step:06d}.{probe}.trace.safetensors"


def keep(folder: Path, step: int, options: LiveOptions, name: str, card: str, bundle: Path) -> None:
    """Writes the model of a snapshot as a bundle. Raises `FileNotFoundError` for no such step."""
    state = load_file(state_path(folder, step))
    weights = {
        key.removeprefix(MODEL): value for key, value in state.items() if key.startswith(MODEL)
    }
    tokenizer = tokenizer_of(options.task_made)
    save_bundle(bundle, weights, options.config(len(tokenizer)), tokenizer, name)
    (bundle / CARD).write_text(card, encoding="utf-8")
    told = {"step": step, "directions": [DIRECTION]}
    (bundle / TRAINING).write_text(json.dumps(told) + "\n", encoding="utf-8")
