"""A complete training run, from text files to a bundle, as a generator of events.

Its loop: epochs of steps, dev losses, and the average of the last checkpoints.
"""

from __future__ import annotations

import json
import time
from collections.abc import Container, Generator
from dataclasses import asdict, replace
from pathlib import Path

import torch
from filelock import FileLock, Timeout
from torch import Tensor, nn

from model.bundle.weights import TRAINING, save_bundle
from model.train.combined_weights import average
from model.train.data import Corpus, TokenBatch
from model.train.events import Event, Finished, Look, Snapshot, Started, Step
from model.train.loss import Guide, autocast, check, dev_loss, taught, training_loss
from model.train.plan import PLAN_OPTIONS, TrainingOptions, TrainingPlan
from model.train.run_state import STATE, Chance, Progress, load_state, save_state, take_over, write
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

# Steps whose weights are saved permanently: 0, then growing by a factor of √2.
SNAPSHOTS = frozenset({0, *(round(100 * 2 ** (k / 2)) for k in range(24))})

SAVE_EVERY = 120.0  # seconds

Told = Generator[Step | Look | Snapshot, None, None]


class Trainer:
    """Trains a model in a folder; resumes from the folder's own state if there is one."""

    def __init__(
        self,
        folder: Path,
        model: Transformer,
        corpus: Corpus,
        dev: Corpus,
        options: TrainingOptions,
        chance: Chance,
        snapshots: Container[int] = SNAPSHOTS,
    ) -> None:
        """`snapshots` are the steps whose weights are saved permanently."""
        self.folder = folder
        self.model = model
        self.corpus = corpus
        self.options = options
        self.chance = chance
        self.snapshots = snapshots
        self.device = model.embedding.weight.device
        self.optimizer = torch.optim.Adam(
            model.parameters(), betas=(0.9, options.adam_beta2), eps=1e-9, fused=True
        )
        self.progress = Progress()
        self.state = folder / STATE
        if self.state.is_file():
            self.progress = load_state(self.state, model, self.optimizer, chance)
        self.guide: Guide | None = None
        self.dev_batches = list(dev.batches(options.batch, 0, 0))
        self.per_epoch = corpus.count(options.batch)
        self.started = time.monotonic() - self.progress.seconds
        self.saved = time.monotonic()

    def events(self) -> Told:
        """Train until the epochs, steps, minutes or patience run out.

        An event is yielded after what it reports. Closing the generator at any event saves the
        state, so that the run can resume from there.
        """
        try:
            if not self.progress.step and 0 in self.snapshots:
                yield self._snapshot()
            if self.options.guide and not self.ended():
                self.guide = Guide.of(self.corpus, self.model.config, self.options.guide)
            # Speed is that from here on: what came before ran elsewhere, or prepared the run.
            self.before = replace(self.progress, seconds=time.monotonic() - self.started)
            self.epochs_before = self.epochs
            while not self.ended():
                yield from self._epoch()
            if self._since_look() or not self._checkpoint().is_file():
                yield self._look()
        except GeneratorExit:
            self._save()
            raise

    def average(self) -> dict[str, Tensor]:
        """Return the mean of the last checkpoints' weights."""
        return average(self._checkpoints()[-self.options.average :])

    @property
    def epochs(self) -> float:
        """Number of finished epochs, including the fraction of the current one."""
        return self.progress.epoch + self.progress.batch / self.per_epoch

    def ended(self) -> bool:
        """Return whether the run has ended."""
        progress, options = self.progress, self.options
        late = options.minutes is not None and progress.seconds >= options.minutes * 60
        done = options.steps and progress.step >= options.steps
        return bool(
            late or done or progress.epoch >= options.epochs or progress.looks >= options.patience
        )

    def _epoch(self) -> Told:
        """Run one epoch, or the rest of it; return early when the run has ended."""
        progress, options = self.progress, self.options
        for batch in self.corpus.batches(
            options.batch, options.seed, progress.epoch, skip=progress.batch
        ):
            with self.chance:
                events: list[Step | Look | Snapshot] = [self._step(batch)]
            if progress.step in self.snapshots:
                events.append(self._snapshot())
            if progress.step % options.every == 0:
                events.append(self._look())
            elif time.monotonic() - self.saved > SAVE_EVERY:
                self._save()
            yield from events
            if self.ended():
                return
        progress.epoch, progress.batch = progress.epoch + 1, 0

    def _step(self, batch: TokenBatch) -> Step:
        progress, options = self.progress, self.options
        progress.step += 1
        self.model.train(progress.step >= options.dropout_from)  # only affects dropout
        guide = self.guide if progress.step >= options.guide_from else None
        if guide and progress.guided is None:
            progress.guided = progress.step
        rate = options.rate(progress.step, self.model.config.d_model, progress.begun)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        with autocast(self.device, options.precision):
            loss, reported = training_loss(
                self.model,
                batch,
                options.label_smoothing,
                options.r_drop,
                guide,
                options.head_divergence,
            )
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), options.clip)
        self.optimizer.step()
        progress.batch += 1
        progress.tokens += int(batch.tokens)
        progress.loss += (entropy := float(reported))
        progress.seconds = time.monotonic() - self.started
        return Step(
            step=progress.step,
            epoch=self.epochs,
            epochs=options.epochs,
            loss=entropy,
            mean=progress.loss / self._since_look(),
            rate=rate,
            tokens=progress.tokens,
            seconds=progress.seconds,
            speed=(progress.tokens - self.before.tokens) / (progress.seconds - self.before.seconds),
            left=self._left(),
        )

    def _left(self) -> float:
        """Return the seconds until the run ends at the latest, at the speed of this process."""
        progress, options = self.progress, self.options
        seconds = progress.seconds - self.before.seconds
        remaining = seconds / (self.epochs - self.epochs_before) * (options.epochs - self.epochs)
        if options.minutes is not None:
            remaining = min(remaining, options.minutes * 60 - progress.seconds)
        if options.steps:
            remaining = min(
                remaining,
                seconds / (progress.step - self.before.step) * (options.steps - progress.step),
            )
        return remaining

    def _look(self) -> Look:
        """Measure the dev loss and save the weights."""
        progress = self.progress
        loss = dev_loss(self.model, self.dev_batches, self.options.precision)
        since = self._since_look()
        again = not since and progress.history
        train = progress.history.pop()["train"] if again else progress.loss / max(since, 1)
        progress.loss = 0.0
        progress.history.append(
            {"step": progress.step, "train": train, "dev": loss, "seconds": progress.seconds}
        )
        progress.looks += 1
        if loss < progress.best:
            progress.best, progress.best_step, progress.looks = loss, progress.step, 0
        write(self._checkpoint(), self.model.state_dict(), {})
        for old in self._checkpoints()[: -self.options.average]:
            old.unlink()
        self._save()
        return Look(progress.step, train, loss, progress.best, progress.best_step, progress.seconds)

    def _snapshot(self) -> Snapshot:
        step = self.progress.step
        path = self.folder / "snapshots" / f"{step:06d}.safetensors"
        write(path, self.model.state_dict(), {})
        return Snapshot(step, str(path))

    def _since_look(self) -> int:
        """Return the steps since the last look, from which the train losses are summed."""
        history = self.progress.history
        return self.progress.step - int(history[-1]["step"] if history else 0)

    def _checkpoint(self) -> Path:
        return self.folder / "checkpoints" / f"{self.progress.step:06d}.safetensors"

    def _checkpoints(self) -> list[Path]:
        return sorted((self.folder / "checkpoints").glob("*.safetensors"))

    def _save(self) -> None:
        save_state(self.state, self.model, self.optimizer, self.chance, self.progress)
        self.saved = time.monotonic()


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
