"""Some layers of a model, as a model: what a smaller figure shows (`show(…, layers=[0, 11])`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from headlight.array_forms import about_layers, check_layers
from model.adapters.requests.adapter import Adapter
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.text.tokens import Token
from model.trace.tensor_names import select


class OfLayer(Protocol):
    """What belongs to a layer, such as the head that aligns best."""

    @property
    def layer(self) -> int: ...


Entry = TypeVar("Entry", bound=OfLayer)


class ChosenLayers(Adapter):
    """A model of which only some layers are recorded; it runs whole.

    They are numbered anew, from 0, and `notices` says which they are. Tensors that belong to no
    attention of these layers are left out, except the candidates of each step.
    """

    def __init__(self, model: Adapter, layers: Sequence[int]) -> None:
        numbers = sorted({attention.layer for attention in model.info.attentions})
        chosen = sorted(check_layers(layers, numbers))
        for stack, count in model.info.layers.items():
            if chosen[0] >= count:
                raise ValueError(
                    f"layers: {stack} has none of them; its layers are 0 … {count - 1}"
                )
        self._model = model
        self._number = {layer: number for number, layer in enumerate(chosen)}
        attentions = [
            attention for attention in model.info.attentions if attention.layer in self._number
        ]
        self._places = {
            attention.place: f"{attention.stack}.{self._number[attention.layer]}.{attention.kind}"
            for attention in attentions
        }
        self.info = replace(
            model.info,
            attentions=tuple(
                replace(
                    attention,
                    place=self._places[attention.place],
                    layer=self._number[attention.layer],
                )
                for attention in attentions
            ),
            aligners=self._renumbered(model.info.aligners),
            taught=self._renumbered(model.info.taught),
            networks=(),
            zoo=None,
        )
        # By the name in the model; a name without a layer stays.
        self._names = {name: new for name in model.names if (new := self._name(name)) is not None}
        self.names = tuple(self._names.values())
        self.notices = tuple(about_layers(chosen))

    def _renumbered(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        return tuple(
            replace(entry, layer=self._number[entry.layer])  # type: ignore[type-var]
            for entry in entries
            if entry.layer in self._number
        )

    def _name(self, name: str) -> str | None:
        place, _, part = name.rpartition(".")
        if place in self._places:
            return f"{self._places[place]}.{part}"
        return name if part in ("probabilities", "candidates") and "." not in place else None

    def validate(self, request: Request) -> None:
        select(request.select, self.names)
        self._model.validate(self._whole_request(request))

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        traces = self._model.run([self._whole_request(request) for request in requests])
        return [
            self._trace(request, trace) for request, trace in zip(requests, traces, strict=True)
        ]

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        return self._model.written(ids)

    def token(self, id_: int, *, first: bool = False) -> Token:
        return self._model.token(id_, first=first)

    def _whole_request(self, request: Request) -> Request:
        """Return the request to the whole model."""
        names = set(select(request.select, self.names))
        places = set(select(request.summarise, self.info.places, "summarise"))
        return replace(
            request,
            select=tuple(name for name, new in self._names.items() if new in names),
            summarise=tuple(place for place, new in self._places.items() if new in places),
        )

    def _trace(self, request: Request, trace: Trace) -> Trace:
        return replace(
            trace,
            model=self.info,
            request=request,
            tensors=_renamed(trace.tensors, self._names),
            summaries=_renamed(trace.summaries, self._places),
        )


Value = TypeVar("Value")


def _renamed(values: Mapping[str, Value], names: Mapping[str, str]) -> dict[str, Value]:
    return {names[name]: value for name, value in values.items() if name in names}
