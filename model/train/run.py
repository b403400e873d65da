"""A complete training run, from text files to a bundle, as a generator of events."""

from __future__ import annotations

import json
from collections.abc import Generator
from dataclasses import asdict, replace
from pathlib import Path

import torch
from filelock import FileLock, Timeout

from model.bundle.weights import TRAINING, save_bundle
from model.train.attention_losses import check, taught
from model.train.data import Corpus
from model.train.events import Event, Finished, Started
from model.train.loop import Trainer
from model.train.plan import PLAN_OPTIONS, TrainingOptions, TrainingPlan
from model.train.run_state import STATE, Chance, take_over
from model.train.training_examples import (
    RefusedError,
    dev_examples,
    every_pair,
    tidied,
    tokenizer_of,
    train_examples,
)
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer

HELD = "run.json"
BUNDLE = "bundle"
# Options that may change when a run is resumed.
FREE = {"folder", "device", "name", "guide"} | {
    *("minutes", "epochs", "steps", "cooldown", "patience", "average")
}


def train(plan: TrainingPlan) -> Generator[Event, None, None]:
    """Train or resume training, yield an event per step, and write the bundle at the end.

    Closing the generator stops the run: its state is saved and its folder is released. The same
    plan resumes it as if it had never stopped, bit for bit on a CPU, even after a kill.

    Raises `RefusedError` if another process trains in the folder, if the folder has another
    run, or if no pair is left to train on; `ValueError` for invalid files or options.
    """
    plan.folder.mkdir(parents=True, exist_ok=True)
    # The events may be consumed from different threads.
    lock = FileLock(plan.folder / "lock", timeout=0, thread_local=False)
    try:
        lock.acquire()
    except Timeout as error:
        raise RefusedError(f"{plan.folder} is in use by another training process") from error
    try:
        yield from _train(plan)
    finally:
        lock.release()


def bundle_of(plan: TrainingPlan) -> Path:
    """Train to the end without reporting events; return the bundle's folder."""
    for _ in train(plan):
        pass
    return plan.folder / BUNDLE


def _train(plan: TrainingPlan) -> Generator[Event, None, None]:
    device = _device(plan.device)
    data, options = plan.data, plan.options
    folder_lock = _held(plan)
    pairs = yield from tidied(every_pair(data.train), data)
    if data.start_from and not (plan.folder / STATE).is_file():
        take_over(data.start_from, plan.folder, data.soften)
    tokenizer = tokenizer_of(plan.folder, pairs, plan.model.vocabulary, data)
    config = replace(plan.model, vocabulary=len(tokenizer))
    if options.guide:
        check(config)
    # Not before: a plan that fails must not claim the folder.
    (plan.folder / HELD).write_text(folder_lock)
    examples = yield from train_examples(pairs, data, options.seed)
    corpus, dev = (
        Corpus(part, tokenizer, config.max_tokens, device)
        for part in (examples, dev_examples(data))
    )
    kernel = kernel_for(config, options, device)
    chance = Chance(options.seed, device)
    with chance:
        model = Transformer(replace(config, kernel=kernel)).to(device)
    trainer = Trainer(plan.folder, model, corpus, dev, options, chance)
    yield Started(
        sum(p.numel() for p in model.parameters()),
        len(corpus),
        str(device),
        torch.get_num_threads(),
        trainer.progress.step,
        trainer.progress.epoch,
    )
    yield from trainer.events()
    save_bundle(plan.folder / BUNDLE, trainer.average(), config, tokenizer, plan.name)
    record = {
        **asdict(trainer.progress),
        "epochs": trainer.epochs,
        "taught": taught(config, trainer.progress.guided),
        "directions": data.directions,
    }
    (plan.folder / BUNDLE / TRAINING).write_text(json.dumps(record, indent=1) + "\n")
    yield Finished(str(plan.folder / BUNDLE), trainer.progress.step)


def kernel_for(config: ModelConfig, options: TrainingOptions, device: torch.device) -> str:
    """Return the attention kernel to train with: "fused" if it is equivalent and faster.

    A guide and head divergence need the weights; on a CPU torch's own kernel is slow in bfloat16
    (docs/bench.md).
    """
    blind = config.fusible and not (options.guide or options.head_divergence)
    return "fused" if blind and device.type != "cpu" else "explicit"


def _device(name: str) -> torch.device:
    automatic = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(automatic if name == "auto" else name)


def _held(plan: TrainingPlan) -> str:
    """Return the folder's original options, as JSON.

    An option that did not exist when the run began has its default, and one that no longer exists
    is ignored. Raises `RefusedError` if the folder has another run.
    """
    planned = {name: value for name, value in plan.to_json().items() if name not in FREE}
    path = plan.folder / HELD
    if path.is_file():
        defaults = {name: option.default for name, option in PLAN_OPTIONS.items()}
        saved = {**json.loads(json.dumps(defaults, default=str)), **json.loads(path.read_text())}
        differing = [
            f"{n} {saved[n]}, not {v}" for n, v in sorted(planned.items()) if saved[n] != v
        ]
        if differing:
            listed = "; ".join(differing)
            raise RefusedError(f"{plan.folder} has a run with {listed}. Choose another folder")
    return json.dumps(planned, indent=1, sort_keys=True) + "\n"
