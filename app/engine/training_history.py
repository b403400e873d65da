"""Replies about how a model learned: an overview, and an example with all its attention.

An example's tensors are named by the step and the place, ``"400.encoder.0.self.weights"``: without
the step they are named as in a trace. Every place also has its mask, which is the same at every
step.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import orjson
import torch
from torch import Tensor

from app.engine.jobs import Encoded, Encoding, ReplyJob
from app.engine.wire import Reply, bytes_reply
from model.adapters.requests.adapter import Adapter
from model.bundle.measurements import Learning
from model.errors import InputError
from model.text.tokens import Token
from model.trace.attentions import AttentionInfo, Attentions
from model.trace.tensor_tap import HEAD, KEY, QUERY, NamedTensor
from model.transformer.masks import allowed, named


@dataclass(frozen=True)
class OverviewJob(ReplyJob):
    """The saved steps and the recorded sentences."""

    def alone(self, adapter: Adapter) -> Encoded:
        """Return JSON. Raises InputError if the model has no history."""
        return Encoded((orjson.dumps(_overview(self.model, adapter)),), 0)


@dataclass(frozen=True)
class ExampleJob(ReplyJob):
    """One example with all its attention, in a format."""

    number: int
    encoding: Encoding

    def alone(self, adapter: Adapter) -> Encoded:
        """Return the reply. Raises InputError for no history, or a number out of range."""
        return self.encoding(_example(self.model, adapter, self.number))


def _overview(name: str, adapter: Adapter) -> dict[str, Any]:
    learning = _learning(adapter)
    return {
        "model": name,
        "digest": learning.digest,
        "snapshots": [asdict(snapshot) for snapshot in learning.snapshots],
        "examples": [
            {
                "source": example.source,
                "direction": example.direction,
                "text": _text(adapter, example.written),
            }
            for example in learning.examples
        ],
    }


def _example(name: str, adapter: Adapter, number: int) -> Reply:
    learning = _learning(adapter)
    last = len(learning.examples) - 1
    if not 0 <= number <= last:
        raise InputError("out-of-range", "example", f"example must be from 0 to {last}")
    chosen = learning.examples[number]
    document = {
        **_overview(name, adapter),
        "example": number,
        "direction": chosen.direction,
        "tokens": {
            side: [asdict(token) for token in tokens] for side, tokens in chosen.tokens.items()
        },
        "output": {
            "text": _text(adapter, chosen.written),
            "tokens": [asdict(token) for token in chosen.written],
        },
        "texts": chosen.texts,
    }
    return bytes_reply(document, _tensors(learning, number, adapter.info.attentions))


def _learning(adapter: Adapter) -> Learning:
    adapter.info.require("learning", "id")
    assert adapter.learning is not None
    return adapter.learning


def _text(adapter: Adapter, tokens: Iterable[Token]) -> str:
    text, _ = adapter.written([token.id for token in tokens])
    return text


def _tensors(learning: Learning, number: int, attentions: Attentions) -> dict[str, NamedTensor]:
    """Return weights by step and place, (head, query, key), and masks by place, (query, key)."""
    lengths = {text: len(tokens) for text, tokens in learning.examples[number].tokens.items()}
    over = {attention.place: attention.over for attention in attentions}
    masks = {
        f"{attention.place}.mask": NamedTensor(
            (QUERY, KEY), attention.over, _mask(attention, lengths)
        )
        for attention in attentions
    }
    weights = {
        name: NamedTensor((HEAD, QUERY, KEY), over[_place(name)], value)
        for name, value in learning.of(number).items()
    }
    return masks | weights


def _place(name: str) -> str:
    """Return the place of a tensor: "encoder.0.self" of "400.encoder.0.self.weights"."""
    return name.split(".", 1)[1].rpartition(".")[0]


def _mask(attention: AttentionInfo, lengths: Mapping[str, int]) -> Tensor:
    queries, keys = lengths[attention.query], lengths[attention.key]
    real = torch.ones(1, keys, dtype=torch.bool)
    return allowed(named(attention.mask), real, torch.arange(queries), torch.arange(keys))[0]
