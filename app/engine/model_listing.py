"""What is known of a model without running it: descriptions, parameters, and how it learned.

Descriptions are plain data, which an engine sends once. How a model learned is an overview, and an
example with all its attention.

An example's tensors are named by the step and the place, ``"400.encoder.0.self.weights"``: without
the step they are named as in a trace. Every place also has its mask, which is the same at every
step.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import orjson
import torch
from torch import Tensor

from app.engine.jobs import Encoded, Encoding, ReplyJob
from app.engine.reply_formats import Reply, bytes_reply, parameters_reply
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.bundle.measurements import Learning
from model.errors import InputError
from model.text.tokens import Token
from model.trace.attentions import AttentionInfo, Attentions
from model.trace.tensor_tap import HEAD, KEY, QUERY, NamedTensor
from model.transformer.masks import allowed, named


@dataclass(frozen=True)
class Listing(Mapping[str, ModelInfo]):
    """The models being served, by id; the first is the default.

    `unopened` are those that should be served and cannot be opened, each with the reason.
    """

    infos: dict[str, ModelInfo]
    recorded: dict[str, tuple[str, ...]]
    at_once: int  # models that may be in memory
    unopened: dict[str, str] = field(default_factory=dict)

    @classmethod
    def common(cls, listings: Sequence["Listing"]) -> "Listing":
        """Return the models that all of several processes have opened."""
        unopened = {
            name: why for listing in reversed(listings) for name, why in listing.unopened.items()
        }
        first = listings[0]
        infos = {name: info for name, info in first.infos.items() if name not in unopened}
        return cls(infos, first.recorded, first.at_once, unopened)

    def pick(self, name: str | None) -> str:
        """Return the id of a model, or of the default one for None.

        Raises InputError if the model is not served.
        """
        if name is None:
            return next(iter(self.infos))
        if name not in self.infos:
            names = ", ".join(self.infos)
            detail = f"model must be one of: {names}"
            if name in self.unopened:
                detail = f"model: {self.absent(name)}; {detail}"
            raise InputError("unknown-model", "model", detail)
        return name

    def absent(self, name: str) -> str:
        """Say that a model is not served, and why if it should be."""
        if name in self.unopened:
            return f"this model cannot be opened: {self.unopened[name]}"
        return "this model is not served here"

    def add(self, name: str, info: ModelInfo, recorded: tuple[str, ...]) -> None:
        """Add a model at the end of the list; engines find its bundle by themselves."""
        self.infos[name], self.recorded[name] = info, recorded

    def remove(self, name: str) -> None:
        """Remove a model from the list. Raises KeyError if it is not listed."""
        if self.unopened.pop(name, None) is None:
            del self.infos[name], self.recorded[name]

    def describe(self, name: str) -> ModelInfo:
        """Return the description of a model, under its id on this server."""
        info = self.infos[name]
        return info if info.id == name else replace(info, id=name)

    def names(self, name: str) -> tuple[str, ...]:
        """Return the names of the tensors that a run of a model records."""
        return self.recorded[name]

    def __getitem__(self, name: str) -> ModelInfo:
        return self.describe(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.infos)

    def __len__(self) -> int:
        return len(self.infos)


PRICE = 2_000.0  # writing millions of numbers takes as long as some traces


@dataclass(frozen=True)
class ParametersJob(ReplyJob):
    """Parameters that match patterns, in a format. `digest` is the model's."""

    digest: str
    select: tuple[str, ...]
    encoding: Encoding

    def alone(self, adapter: Adapter) -> Encoded:
        """Return the reply. Raises InputError for a pattern that matches nothing."""
        return self.encoding(parameters_reply(self.model, adapter.parameters(self.select)))

    def price(self, info: ModelInfo) -> float:
        """Return the cost, which is the same for all requests."""
        return PRICE


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
        return self.encoding(example_reply(self.model, adapter, self.number))


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


def example_reply(name: str, adapter: Adapter, number: int) -> Reply:
    """Return one example with all its attention.

    Raises InputError for no history, or a number out of range.
    """
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
