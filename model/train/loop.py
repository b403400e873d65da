"""The run: epochs of steps, looks at the dev loss, and the average of the last checkpoints."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

from model.train.data import Corpus, TokenBatch
from model.train.guide import Guide
from model.train.loss import autocast, dev_loss, training_loss
from model.train.options import TrainingOptions, cooling, learning_rate
from model.train.state import STATE, Progress, average, load_state, save_state, write
from model.transformer.stacks import Transformer

# Steps of which the weights are kept for good: 0, then each √2 times the last.
SNAPSHOTS = frozenset(round(100 * 2 ** (k / 2)) for k in range(24))
EVERY = 15.0  # seconds between two lines of progress


def say(line: str) -> None:
    """Progress goes to standard error, a line at a time."""
    print(line, file=sys.stderr, flush=True)


@dataclass
class Run:
    """One training run in a folder. A run that finds its own state there goes on from it."""

    folder: Path
    model: Transformer
    train: Corpus
    dev: Corpus
    options: TrainingOptions
    say: Callable[[str], None] = say
    save_every: float = 120.0  # seconds

    def __post_init__(self) -> None:
        self.device = self.model.embedding.weight.device
        self.optimizer = torch.optim.Adam(
            self.model.parameters(), betas=(0.9, self.options.adam_beta2), eps=1e-9, fused=True
        )
        self.progress = Progress()
        self.state = self.folder / STATE
        if self.state.is_file():
            self.progress = load_state(self.state, self.model, self.optimizer)
            self.say(f"resuming at step {self.progress.step}, epoch {self.progress.epoch + 1}")
        self.guide: Guide | None = None
        self.dev_batches = list(self.dev.batches(self.options.batch, 0, 0))
        self.per_epoch = self.train.count(self.options.batch)
        self.started = time.monotonic() - self.progress.seconds
        self.saved = self.told = time.monotonic()

    def __call__(self) -> dict[str, Tensor]:
        """Trains until the epochs, steps, minutes or the patience run out; the averaged weights."""
        if not self.progress.step:
            self._snapshot()
        if self.options.guide and not self.ended():
            self.guide = Guide.of(self.train, self.model.config, self.options.guide)
        while not self.ended():
            self._epoch()
        if self._since_look() or not self._checkpoint().is_file():
            self._look()
        return average(self._checkpoints()[-self.options.average :])

    @property
    def epochs(self) -> float:
        """How many epochs are done, the one under way in part."""
        return self.progress.epoch + self.progress.batch / self.per_epoch

    def ended(self) -> bool:
        """Whether there is nothing left to do."""
        at, options = self.progress, self.options
        late = options.minutes is not None and at.seconds >= options.minutes * 60
        done = options.steps and at.step >= options.steps
        return bool(late or done or at.epoch >= options.epochs or at.looks >= options.patience)

    def _epoch(self) -> None:
        """One epoch, or what is left of it; returns early when the run has ended."""
        at, options = self.progress, self.options
        batches = self.train.batches(options.batch, options.seed, at.epoch, skip=at.batch)
        for batch in batches:
            self._step(batch)
            at.batch += 1
            at.seconds = time.monotonic() - self.started
            if at.step in SNAPSHOTS:
                self._snapshot()
            self._tell()
            if at.step % options.every == 0:
                self._look()
            elif time.monotonic() - self.saved > self.save_every:
                self._save()
            if self.ended():
                return
        at.epoch, at.batch = at.epoch + 1, 0

    def _step(self, batch: TokenBatch) -> None:
        at, options = self.progress, self.options
        at.step += 1
        self.model.train(at.step >= options.dropout_from)  # what dropout alone goes by
        guide = self.guide if at.step >= options.guide_from else None
        width = self.model.config.d_model
        rate = learning_rate(at.step, width, options.warmup, options.learning_rate, at.begun)
        rate *= cooling(at.step, options.steps, options.cooldown)
        if guide and at.guided is None:
            at.guided = at.step
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.optimizer.zero_grad(set_to_none=True)
        with autocast(self.device, options.precision):
            loss, shown = training_loss(
                self.model, batch, options.label_smoothing, options.r_drop, guide
            )
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.model.parameters(), options.clip)
        self.optimizer.step()
        at.tokens += int(batch.tokens)
        at.loss += float(shown)

    def _look(self) -> None:
        """Measures the dev loss and keeps the weights."""
        at = self.progress
        loss = dev_loss(self.model, self.dev_batches, self.options.precision)
        since = self._since_look()
        again = not since and at.history
        train = at.history.pop()["train"] if again else at.loss / max(since, 1)
        at.loss = 0.0
        at.history.append({"step": at.step, "train": train, "dev": loss, "seconds": at.seconds})
        at.looks += 1
        if loss < at.best:
            at.best, at.best_step, at.looks = loss, at.step, 0
        self.say(
            f"step {at.step}: train loss {train:.4f} (smoothed), dev loss {loss:.4f} nats/token, "
            f"best {at.best:.4f} at step {at.best_step}"
        )
        write(self._checkpoint(), self.model.state_dict(), {})
        for old in self._checkpoints()[: -self.options.average]:
            old.unlink()
        self._save()

    def _snapshot(self) -> None:
        path = self.folder / "snapshots" / f"{self.progress.step:06d}.safetensors"
        write(path, self.model.state_dict(), {})

    def _since_look(self) -> int:
        """Steps since the last look, the one that the sum of train losses began after."""
        history = self.progress.history
        return self.progress.step - int(history[-1]["step"] if history else 0)

    def _checkpoint(self) -> Path:
        return self.folder / "checkpoints" / f"{self.progress.step:06d}.safetensors"

    def _checkpoints(self) -> list[Path]:
        return sorted((self.folder / "checkpoints").glob("*.safetensors"))

    def _save(self) -> None:
        save_state(self.state, self.model, self.optimizer, self.progress)
        self.saved = time.monotonic()

    def _tell(self) -> None:
        if time.monotonic() - self.told < EVERY:
            return
        self.told = time.monotonic()
        at, options = self.progress, self.options
        done = self.epochs
        left = at.seconds / done * (options.epochs - done)
        if options.minutes is not None:
            left = min(left, options.minutes * 60 - at.seconds)
        if options.steps:
            left = min(left, at.seconds / at.step * (options.steps - at.step))
        mean = at.loss / self._since_look()
        self.say(
            f"epoch {done:.2f}/{options.epochs}, step {at.step}: loss {mean:.4f}, "
            f"{at.tokens / at.seconds:,.0f} tokens/s, at most {left / 60:.1f} min left"
        )
