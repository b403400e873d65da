"""A live run: training as a generator of events, with a snapshot of the state at regular steps.

At each snapshot the model is measured: its accuracy, and traces of fixed inputs.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import torch
from safetensors import safe_open
from safetensors.torch import load_file

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Decode, Request
from model.bundle.weights import Bundle
from model.live_training.options_and_events import (
    COOLDOWN,
    MAX_TOKENS,
    Advanced,
    Begun,
    Ended,
    LiveEvent,
    LiveOptions,
    Observed,
    Probed,
    state_path,
)
from model.text.tokens import Tokenizer
from model.text.writing_systems import Detector
from model.train.data import Corpus, TokenBatch, TrainingExample
from model.train.events import Look, Step
from model.train.loss import answers, dev_loss
from model.train.plan import TrainingOptions
from model.train.run import Trainer
from model.train.run_state import STATE, Chance, save_state, write
from model.transformer.stacks import Transformer
from model.zoo.registry import DIRECTION, LANGUAGES, tokenizer_of
from model.zoo.tasks import Example

PROBES = 3

SELECT = ("*.weights", "*.mask")

BEYOND = 4  # tokens by which an answer may be longer than the right one


@torch.no_grad()
def accuracy(model: Transformer, batches: Sequence[TokenBatch]) -> float:
    """Return the share of examples that greedy decoding answers entirely right.

    Greedy decoding gives the right answer exactly if each of its tokens is the most probable one
    after the tokens before it, so one pass over the right answers is enough.
    """
    model.eval()
    right = count = 0
    for batch in batches:
        logits, written = answers(model, batch)
        size, length = batch.target_real.shape
        rows = batch.target_real.flatten().nonzero()[:, 0] // length
        wrong = torch.zeros(size).index_add(0, rows, (logits.argmax(-1) != written).float())
        right += int((wrong == 0).sum())
        count += size
    return right / count


def probes_of(options: LiveOptions) -> list[Example]:
    """Return the fixed inputs: held-out examples, the same for all runs of a task and `longest`."""
    shortest, longest = options.lengths
    random = Random(f"probes {options.task} {longest}")
    lengths = [longest, longest, max(shortest, (longest + 1) // 2)]
    return [options.task_made.draw(random, length, held_out=True) for length in lengths[:PROBES]]


def adapter_of(model: Transformer, tokenizer: Tokenizer, name: str) -> EncoderDecoder:
    """Return an adapter of a model that is still being trained; the weights are not copied."""
    detector = Detector(LANGUAGES, {})
    bundle = Bundle(name, LANGUAGES, (DIRECTION,), model, tokenizer, "", "", detector)
    return EncoderDecoder(bundle, "live")


def probe(adapter: EncoderDecoder, probes: Sequence[Example]) -> tuple[Probed, ...]:
    """Return, for each example, what the model writes and its trace of the right answer."""
    adapter.model.eval()
    free = [
        Request(
            example.source_text,
            DIRECTION,
            decode=Decode(max_tokens=len(example.target) + BEYOND),
            select=(),
        )
        for example in probes
    ]
    answered = [
        Request(
            example.source_text, DIRECTION, example.target_text, select=SELECT, summarise=("*",)
        )
        for example in probes
    ]
    return tuple(
        Probed(written.output.text, trace)
        for written, trace in zip(adapter.run(free), adapter.run(answered), strict=True)
    )


OBSERVED = 40  # approximate number of snapshots in a run

POINTS = 200  # approximate number of points in a learning curve

EXAMPLES, HELD_OUT = 20_000, 400

DATA = ("task", "longest", "seed", "batch")  # options that determine the examples and their order


class LiveRun:
    """A run in a folder. If the folder holds its state, the run continues from it.

    Training takes at most `minutes`. The learning rate can be changed during the run.
    """

    def __init__(self, folder: Path, options: LiveOptions, minutes: float) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.options = folder, options
        tokenizer = tokenizer_of(options.task_made)
        device, chance = torch.device("cpu"), Chance(options.seed, torch.device("cpu"))
        corpus, dev = (
            Corpus(_examples(options, count, held_out), tokenizer, MAX_TOKENS, device)
            for count, held_out in ((EXAMPLES, False), (HELD_OUT, True))
        )
        with chance:
            model = Transformer(options.config(len(tokenizer)))
        optimising = training_options(options, minutes)
        self.trainer = Trainer(folder, model, corpus, dev, optimising, chance, snapshots=())
        self.probes = probes_of(options)
        self.tokenizer = tokenizer
        self._points = max(1, options.steps // POINTS)

    @property
    def learning_rate(self) -> float:
        """Factor on the learning-rate schedule. A new value applies from the next step on."""
        return self.trainer.options.learning_rate

    @learning_rate.setter
    def learning_rate(self, factor: float) -> None:
        self.trainer.options = replace(self.trainer.options, learning_rate=factor)

    def rested(self, seconds: float) -> None:
        """Exclude a pause of so many seconds from the training time."""
        self.trainer.started += seconds

    def events(self) -> Generator[LiveEvent, None, None]:
        """Train until the steps or the minutes run out. Closing the generator saves the state."""
        progress = self.trainer.progress
        pairs = tuple((example.source_text, example.target_text) for example in self.probes)
        yield Begun(self._adapter().info, len(self.trainer.corpus), pairs, progress.step)
        if not state_path(self.folder, progress.step).is_file():
            yield self._observed(dev_loss(self.trainer.model, self.trainer.dev_batches))
        training = self.trainer.events()
        try:
            yield from self._told(training)
        finally:
            training.close()
        done = progress.step >= self.options.steps
        yield Ended("steps" if done else "minutes", progress.step)

    def _told(self, training: Iterator[object]) -> Iterator[LiveEvent]:
        losses: list[float] = []
        for event in training:
            match event:
                case Step(step=step, loss=loss, rate=rate, seconds=seconds):
                    losses.append(loss)
                    if len(losses) >= self._points:
                        yield Advanced(step, sum(losses) / len(losses), rate, seconds)
                        losses.clear()
                case Look(dev=dev):
                    yield self._observed(dev)

    def _observed(self, loss: float) -> Observed:
        """Test the model. Its state is saved first, so that every reported snapshot exists."""
        trainer, progress = self.trainer, self.trainer.progress
        path = state_path(self.folder, progress.step)
        save_state(path, trainer.model, trainer.optimizer, trainer.chance, progress)
        right = accuracy(trainer.model, trainer.dev_batches)
        return Observed(
            progress.step, loss, right, progress.seconds, probe(self._adapter(), self.probes)
        )

    def _adapter(self) -> EncoderDecoder:
        """Return a new adapter of the model: an adapter caches decodings, so it cannot be kept."""
        return adapter_of(self.trainer.model, self.tokenizer, f"{self.options.task}, live")


def training_options(options: LiveOptions, minutes: float) -> TrainingOptions:
    """Convert the options to those of `model.train`."""
    return TrainingOptions(
        seed=options.seed,
        batch=options.batch,
        epochs=1_000_000,
        minutes=minutes,
        steps=options.steps,
        cooldown=round(COOLDOWN * options.steps),
        every=math.ceil(options.steps / OBSERVED),
        patience=1_000_000,
        learning_rate=options.learning_rate,
        warmup=options.warmup,
        label_smoothing=options.label_smoothing,
        average=1,
        precision="float32",
    )


def branch(snapshot: Path, parent: LiveOptions, folder: Path, options: LiveOptions) -> None:
    """Prepare `folder` for a run that continues from another run's snapshot.

    The optimizer's moments and the random state are copied too: with the same options, training
    continues exactly as in the other run.
    """
    tensors = load_file(snapshot)
    with safe_open(snapshot, "pt") as opened:
        progress = json.loads(opened.metadata()["progress"])
    progress["seconds"] = 0.0
    if any(getattr(options, name) != getattr(parent, name) for name in DATA):
        progress |= {"epoch": 0, "batch": 0}
    write(folder / STATE, tensors, {"progress": json.dumps(progress)})


def in_background(threads: int, nice: int) -> None:
    """Lower the priority of this process, and compute on so many threads."""
    torch.set_num_threads(threads)
    os.nice(nice)


def _examples(options: LiveOptions, count: int, held_out: bool) -> list[TrainingExample]:
    random = Random(f"{options.task} {options.seed} {held_out}")
    first, last = options.lengths
    drawn = (
        options.task_made.draw(random, random.randint(first, last), held_out) for _ in range(count)
    )
    return [
        TrainingExample(example.source_text, example.target_text, LANGUAGES[1]) for example in drawn
    ]
