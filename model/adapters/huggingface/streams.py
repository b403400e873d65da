"""Hooks that pass a model's residual stream through the tap of the running pass.

The hooks are registered once and have no state: they look up the pass that runs on their thread.
If a tap replaces a residual, the module's output is changed so that the sum is the replacement.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from torch import Tensor, nn

from model.adapters.huggingface.anatomy import Anatomy
from model.adapters.huggingface.recording import running
from model.adapters.huggingface.terms import Term
from model.explain.stream import PROJECTED
from model.trace.tensor_tap import FEATURE, QUERY, Tap

DIMS = (QUERY, FEATURE)


class StreamPass:
    """The streams of one running pass: the sum so far, and the tap of each place."""

    def __init__(self, tap: Tap, rows: int) -> None:
        self.tap = tap
        self.rows = rows
        self.x: Tensor | None = None  # (B, N, D)
        self.position: Tensor | None = None

    def begin(self, text: str, x: Tensor) -> None:
        """Record the input of the first layer."""
        here = self.tap.at(text, query=text)
        embedding = x if self.position is None else x - self.position
        here("embedding", embedding, DIMS)
        here("input", x, DIMS)

    def placed(self, text: str, position: Tensor) -> Tensor:
        """Record the positions (…, N, D) that are added to the embeddings."""
        position = position.expand(self.rows, *position.shape[-2:])
        self.position = self.tap.at(text, query=text)("position", position, DIMS)
        return self.position

    def add(self, here: Tap, output: Tensor) -> Tensor:
        """Record the sum after a sublayer of a pre-norm stack; return what is to be added."""
        assert self.x is not None
        total = self.x + output
        changed = here("residual", total, DIMS)
        added = output if changed is total else changed - self.x
        self.x = changed
        return added


def names_of(anatomy: Anatomy) -> dict[str, tuple[str, ...]]:
    """Return the names of a stream's tensors, with their dims."""
    parts = ["embedding", "input", *(["position"] if anatomy.position is not None else [])]
    found: dict[str, tuple[str, ...]] = {f"{anatomy.text}.{part}": DIMS for part in parts}
    for index, layer in enumerate(anatomy.terms):
        for term in layer:
            recorded = ["output", "residual", *(["norm"] if term.post is not None else [])]
            recorded = [*([PROJECTED] if term.own is not None else []), *recorded]
            for part in recorded:
                found[f"{anatomy.stack}.{index}.{term.name}.{part}"] = DIMS
    return found


def install(anatomies: Iterable[Anatomy]) -> None:
    """Register the hooks of these stacks."""
    for anatomy in anatomies:
        text = anatomy.text
        if anatomy.position is not None:
            anatomy.position.register_forward_hook(_placed(text))
        for index, (layer, terms) in enumerate(zip(anatomy.layers, anatomy.terms, strict=True)):
            layer.register_forward_pre_hook(_entered(text, index == 0), with_kwargs=True)
            for term in terms:
                _listen(term, f"{anatomy.stack}.{index}.{term.name}", text)


def _listen(term: Term, place: str, text: str) -> None:
    if term.own is not None:
        term.output.register_forward_hook(_named(PROJECTED, place, text))
    term.added.register_forward_hook(_named("output", place, text))
    if term.post is None:
        term.added.register_forward_hook(_added(place, text))
        return
    term.post.register_forward_pre_hook(_summed(place, text))
    term.post.register_forward_hook(_named("norm", place, text))


def _here() -> StreamPass | None:
    return getattr(running(), "streams", None)


def _entered(text: str, first: bool) -> Any:
    def hook(_: nn.Module, inputs: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        streams = _here()
        if streams is not None:
            streams.x = inputs[0] if inputs else named["hidden_states"]
            if first:
                streams.begin(text, streams.x)

    return hook


def _placed(text: str) -> Any:
    def hook(_: nn.Module, __: Any, output: Tensor) -> Tensor:
        streams = _here()
        return output if streams is None else streams.placed(text, output)

    return hook


def _named(name: str, place: str, text: str) -> Any:
    def hook(_: nn.Module, __: Any, output: Any) -> Any:
        streams = _here()
        if streams is None:
            return output
        here = streams.tap.at(place, query=text)
        if isinstance(output, tuple):
            return (here(name, output[0], DIMS), *output[1:])
        return here(name, output, DIMS)

    return hook


def _added(place: str, text: str) -> Any:
    def hook(_: nn.Module, __: Any, output: Any) -> Any:
        streams = _here()
        if streams is None:
            return output
        here = streams.tap.at(place, query=text)
        if isinstance(output, tuple):
            return (streams.add(here, output[0]), *output[1:])
        return streams.add(here, output)

    return hook


def _summed(place: str, text: str) -> Any:
    def hook(_: nn.Module, inputs: tuple[Any, ...]) -> Any:
        streams = _here()
        if streams is None:
            return inputs
        return (streams.tap.at(place, query=text)("residual", inputs[0], DIMS), *inputs[1:])

    return hook
