"""Hooks that pass a model's residual stream through the tap of the running pass.

While a hook is being registered, another thread may call it without `named`; it has no streams.

The hooks have no state: they look up the pass that runs on their thread. Those of a model that is
served are registered once; those of a record, while it is open.
If a tap replaces a residual, the module's output is changed so that the sum is the replacement.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from model.adapters.huggingface.recorded_attention import running
from model.adapters.huggingface.stream_modules import Anatomy, Term
from model.explain.residual_stream import PROJECTED
from model.trace.tensor_tap import FEATURE, HIDDEN, QUERY, Tap

DIMS = (QUERY, FEATURE)
UNITS = (QUERY, HIDDEN)


class Streams:
    """The streams of one running pass: the sum so far, and the tap of each place."""

    def __init__(self, tap: Tap, rows: int) -> None:
        self.tap = tap
        self.rows = rows
        self.x: Tensor | None = None  # (B, N, D)
        self.position: Tensor | None = None

    def begin(self, text: str, x: Tensor) -> Tensor:
        """Record the input of the first layer; return it."""
        text_tap = self.tap.at(text, query=text)
        embedding = x if self.position is None else x - self.position
        changed = text_tap("embedding", embedding, DIMS)
        return text_tap("input", x if changed is embedding else x + (changed - embedding), DIMS)

    def placed(self, text: str, position: Tensor) -> Tensor:
        """Record the positions (…, N, D) that are added to the embeddings."""
        position = position.expand(self.rows, *position.shape[-2:])
        self.position = self.tap.at(text, query=text)("position", position, DIMS)
        return self.position

    def add(self, place_tap: Tap, output: Tensor) -> Tensor:
        """Record the sum after a sublayer of a pre-norm stack; return what is to be added."""
        assert self.x is not None
        total = self.x + output
        changed = place_tap("residual", total, DIMS)
        added = output if changed is total else changed - self.x
        self.x = changed
        return added


class RecordedStreams(Streams):
    """The streams of passes that the user runs, one after the other: nothing is changed."""

    def __init__(self, tap: Tap) -> None:
        super().__init__(tap, rows=1)

    def begin(self, text: str, x: Tensor) -> Tensor:
        if self.position is not None:
            self.position = self.position.expand_as(x)
            self.tap.at(text, query=text)("position", self.position, DIMS)
        read = super().begin(text, x)
        self.position = None
        return read

    def placed(self, text: str, position: Tensor) -> Tensor:
        self.position = position
        return position


RunningStreams = Callable[[], Streams | None]


def names_of(
    anatomy: Anatomy, befores: Collection[str], networks: Collection[str]
) -> dict[str, tuple[str, ...]]:
    """Return the names of a stream's tensors, with their dims.

    `befores` are the sublayers that read the stream through a norm, `networks` those whose hidden
    units are recorded.
    """
    parts = ["embedding", "input", *(["position"] if anatomy.position is not None else [])]
    names: dict[str, tuple[str, ...]] = {f"{anatomy.text}.{part}": DIMS for part in parts}
    for index, layer in enumerate(anatomy.terms):
        for term in layer:
            place = f"{anatomy.stack}.{index}.{term.name}"
            normed = term.post is not None or place in befores
            recorded = ["output", "residual", *(["norm"] if normed else [])]
            recorded = [*([PROJECTED] if term.own is not None else []), *recorded]
            for part in recorded:
                names[f"{place}.{part}"] = DIMS
            if place in networks:
                names[f"{place}.hidden"] = UNITS
    if anatomy.last is not None:
        names[f"{anatomy.stack}.norm"] = DIMS
    return names


@dataclass(frozen=True)
class StreamHook:
    """A hook of a module; made with a function that returns the streams of the running pass."""

    module: nn.Module
    hook: Callable[[RunningStreams], Any]
    before: bool = False  # the module is called

    @classmethod
    def on_output(cls, module: nn.Module, change: Change) -> StreamHook:
        """Return the hook that changes what a module returns."""
        return cls(module, partial(_on_output, change))

    @classmethod
    def on_input(cls, module: nn.Module, change: Change) -> StreamHook:
        """Return the hook that changes what a module reads."""
        return cls(module, partial(_on_input, change), before=True)

    def connect(
        self, running_streams: RunningStreams, module: nn.Module | None = None
    ) -> RemovableHandle:
        """Register the hook, by default at its own module."""
        target = module or self.module
        if self.before:
            return target.register_forward_pre_hook(self.hook(running_streams), with_kwargs=True)
        return target.register_forward_hook(self.hook(running_streams))


def stream_hooks(
    anatomies: Iterable[Anatomy], befores: Mapping[str, nn.Module], networks: Collection[str]
) -> Iterator[StreamHook]:
    """Yield the hooks of these stacks, and of the norms before their sublayers, by place."""
    for anatomy in anatomies:
        text = anatomy.text
        if anatomy.last is not None:
            yield StreamHook.on_output(anatomy.last, _recorded("norm", anatomy.stack, text))
        if anatomy.position is not None:
            yield StreamHook.on_output(anatomy.position, _placed(text))
        for index, (layer, terms) in enumerate(zip(anatomy.layers, anatomy.terms, strict=True)):
            yield StreamHook(layer, partial(_entered, text, index == 0), before=True)
            for term in terms:
                place = f"{anatomy.stack}.{index}.{term.name}"
                if place in befores:
                    yield StreamHook.on_output(befores[place], _recorded("norm", place, text))
                if place in networks:
                    yield StreamHook.on_input(term.output, _recorded("hidden", place, text, UNITS))
                yield from _of_term(term, place, text)


def install_hooks(
    anatomies: Iterable[Anatomy], befores: Mapping[str, nn.Module], networks: Collection[str]
) -> None:
    """Register the hooks of these stacks for the passes of requests."""
    for hook in stream_hooks(anatomies, befores, networks):
        hook.connect(_running_streams)


def _of_term(term: Term, place: str, text: str) -> Iterator[StreamHook]:
    if term.own is not None:
        yield StreamHook.on_output(term.output, _recorded(PROJECTED, place, text))
    yield StreamHook.on_output(term.added, _recorded("output", place, text))
    if term.post is None:
        yield StreamHook.on_output(term.added, _added(place, text))
        return
    yield StreamHook.on_input(term.post, _recorded("residual", place, text))
    yield StreamHook.on_output(term.post, _recorded("norm", place, text))


def _running_streams() -> Streams | None:
    return getattr(running(), "streams", None)


def _entered(text: str, first: bool, running_streams: RunningStreams) -> Any:
    def hook(_: nn.Module, inputs: tuple[Any, ...], named: Mapping[str, Any] | None = None) -> Any:
        streams, named = running_streams(), named or {}
        if streams is None:
            return None
        streams.x = inputs[0] if inputs else named["hidden_states"]
        if not first:
            return None
        entered, streams.x = streams.x, streams.begin(text, streams.x)
        if streams.x is entered:
            return None
        if inputs:
            return (streams.x, *inputs[1:]), named
        return inputs, {**named, "hidden_states": streams.x}

    return hook


Change = Callable[[Streams, Tensor], Tensor]


def _recorded(name: str, place: str, text: str, dims: tuple[str, ...] = DIMS) -> Change:
    """Return what passes a tensor (B, N, …) through the tap of a place."""
    return lambda streams, value: streams.tap.at(place, query=text)(name, value, dims)


def _placed(text: str) -> Change:
    return lambda streams, position: streams.placed(text, position)


def _added(place: str, text: str) -> Change:
    return lambda streams, output: streams.add(streams.tap.at(place, query=text), output)


def _on_output(change: Change, running_streams: RunningStreams) -> Any:
    """Return a hook that changes what a module returns."""

    def hook(_: nn.Module, __: Any, output: Any) -> Any:
        streams = running_streams()
        if streams is None:
            return output
        if isinstance(output, tuple):
            return (change(streams, output[0]), *output[1:])
        return change(streams, output)

    return hook


def _on_input(change: Change, running_streams: RunningStreams) -> Any:
    """Return a hook that changes what a module reads."""

    def hook(_: nn.Module, inputs: tuple[Any, ...], named: Mapping[str, Any] | None = None) -> Any:
        streams = running_streams()
        if streams is None:
            return None
        return (change(streams, inputs[0]), *inputs[1:]), named or {}

    return hook
