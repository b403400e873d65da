"""Measures a model during training: its accuracy, and traces of fixed inputs."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import torch

from model.adapters.encoder_decoder.adapter import EncoderDecoder
from model.adapters.requests.request import Decode, Request
from model.bundle.weights import Bundle
from model.live.events import Probed
from model.live.options import LiveOptions
from model.text.tokens import Tokenizer
from model.text.writing_systems import Detector
from model.train.data import TokenBatch
from model.train.loss import answers
from model.transformer.stacks import Transformer
from model.zoo.registry import DIRECTION, LANGUAGES
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
            one.source_text,
            DIRECTION,
            decode=Decode(max_tokens=len(one.target) + BEYOND),
            select=(),
        )
        for one in probes
    ]
    given = [
        Request(one.source_text, DIRECTION, one.target_text, select=SELECT, summarise=("*",))
        for one in probes
    ]
    return tuple(
        Probed(own.output.text, trace)
        for own, trace in zip(adapter.run(free), adapter.run(given), strict=True)
    )
