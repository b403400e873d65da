"""A run's folder and random numbers: everything needed to resume as if it had never stopped.

lock                             held by the process that trains here
run.json                         the plan, which a resumed run must match
tokenizer.json
state.safetensors                weights, Adam's moments, random-number states; JSON in its header
checkpoints/007000.safetensors   the weights at the last dev losses, for averaging
snapshots/000400.safetensors     the weights at steps growing by √2, for the history
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from types import TracebackType
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.optim import Optimizer

from model.bundle.weights import TOKENIZER, TRAINING, WEIGHTS
from model.errors import FileError
from model.file_reading import read_json, reading
from model.transformer.stacks import Transformer


class Chance:
    """Gives torch a run's random states, since its layers use the global generators.

    Inside ``with chance:`` torch draws from the run's states, one on the CPU and one on the run's
    device; outside, torch's own sequence continues as if the run had drawn nothing, and does not
    affect the run. The global states belong to the process: two runs at once need a process each.
    """

    def __init__(self, seed: int, device: torch.device) -> None:
        kinds = {torch.device("cpu"), device} if device.type == "cuda" else {torch.device("cpu")}
        self.states = {
            kind: torch.Generator(kind).manual_seed(seed).get_state()
            for kind in sorted(kinds, key=str)
        }

    def __enter__(self) -> None:
        self._swap()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._swap()

    def _swap(self) -> None:
        """Exchange the run's states with torch's."""
        for device, state in self.states.items():
            if device.type == "cpu":
                self.states[device] = torch.get_rng_state()
                torch.set_rng_state(state)
            else:
                self.states[device] = torch.cuda.get_rng_state(device)
                torch.cuda.set_rng_state(state, device)

    def tensors(self) -> dict[str, Tensor]:
        """Return the states by name, for a file: ``random.cpu`` and possibly ``random.cuda``."""
        return {f"random.{device.type}": state for device, state in self.states.items()}

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """Restore the states returned by `tensors`; a device not among them keeps its own."""
        for device, state in self.states.items():
            self.states[device] = tensors.get(f"random.{device.type}", state)


STATE = "state.safetensors"


@dataclass
class Progress:
    """The position of a run."""

    epoch: int = 0  # the current epoch
    batch: int = 0  # its finished batches
    step: int = 0
    begun: int = 0  # the step at which Adam started
    seconds: float = 0.0
    tokens: int = 0
    best: float = float("inf")  # dev loss, nats per token
    best_step: int = 0
    looks: int = 0  # since the best
    guided: int | None = None  # the first step with a guide, if there was one
    loss: float = 0.0  # smoothed train loss summed since the last look, nats per token
    history: list[dict[str, float]] = field(default_factory=list)


def save_state(
    path: Path, model: Transformer, optimizer: Optimizer, chance: Chance, progress: Progress
) -> None:
    """Write the state next to the old one, then replace it: a kill always leaves a complete one."""
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    for index, moments in optimizer.state_dict()["state"].items():
        for name, value in moments.items():
            tensors[f"adam.{index}.{name}"] = value
    tensors |= chance.tensors()
    write(path, tensors, {"progress": json.dumps(asdict(progress))})


def load_state(path: Path, model: Transformer, optimizer: Optimizer, chance: Chance) -> Progress:
    """Restore model, optimizer and random state; return the position of the run.

    Raises `ValueError` if the state is for a model of another shape.
    """
    tensors = load_file(path)
    try:
        model.load_state_dict(_under("model.", tensors))
    except RuntimeError as error:
        raise ValueError(f"{path} has a model of another shape: {error}") from error
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in _under("adam.", tensors).items():
        index, name = key.split(".")
        state.setdefault(int(index), {})[name] = value
    groups = optimizer.state_dict()["param_groups"]
    optimizer.load_state_dict({"state": state, "param_groups": groups})
    chance.restore(tensors)
    with safe_open(path, "pt") as opened:
        return Progress(**json.loads(opened.metadata()["progress"]))


def take_over(old: Path, new: Path, soften: float = 1.0) -> None:
    """Prepare the folder `new` for a run that continues from `old`, at the first batch of its data.

    `old` is a run's folder, whose vocabulary, weights, moments, random state and step count are
    copied, or a bundle, which has neither moments nor random state: then Adam and the random
    numbers start afresh. W_q and W_k are multiplied by `soften`, and so the scores by its square:
    heads that attend to the same token in every sentence otherwise get hardly any gradient.

    Raises `FileError` if `old` is neither, or damaged.
    """
    if (old / STATE).is_file():
        with reading(old / STATE):
            with safe_open(old / STATE, "pt") as opened:
                progress = json.loads(opened.metadata()["progress"])
            tensors = load_file(old / STATE)
    elif (old / WEIGHTS).is_file():
        progress = _written(old / TRAINING)
        progress["begun"] = progress.get("step", 0)
        with reading(old / WEIGHTS):
            tensors = {f"model.{k}": v.float() for k, v in load_file(old / WEIGHTS).items()}
    else:
        raise FileError(old, f"it has neither a run ({STATE}) nor a bundle ({WEIGHTS})")
    for name, value in tensors.items():
        if name.startswith("model.") and (".W_q." in name or ".W_k." in name):
            value *= soften
    progress |= {"epoch": 0, "batch": 0, "looks": 0, "best": float("inf"), "best_step": 0}
    new.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(old / TOKENIZER, new / TOKENIZER)
    write(new / STATE, tensors, {"progress": json.dumps(progress)})


def _written(path: Path) -> dict[str, Any]:
    """Return the position of the run that wrote a bundle; the start if the bundle does not say."""
    saved = read_json(path) if path.is_file() else {}
    return {f.name: saved[f.name] for f in fields(Progress) if f.name in saved}


def write(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write a safetensors file atomically: it is the old or the new one, never half of it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    plain = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    save_file(plain, partial, dict(metadata))
    partial.replace(path)


def write_text(path: Path, text: str) -> None:
    """Write a text file atomically: it is the old or the new one, never half of it."""
    partial = path.with_name(f"{path.name}.partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}
