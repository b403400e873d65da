"""Some layers of a model, as a model: what a smaller figure shows (`show(…, layers=[0, 11])`)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from headlight.array_forms import about_layers, check_layers
from headlight.figure_notices import Notice, doubtful, t
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.request import Patch, Receiver, Request
from model.adapters.requests.trace import Decoding, Trace
from model.errors import InputError
from model.text.tokens import Token
from model.trace.interventions import Intervention
from model.trace.tensor_names import select

# What needs no other layer's tensors.
CAPABILITIES = {
    *("decode", "score", "candidates", "alignment"),
    *("mean", "chat", "padding", "pair"),
}
LAYER = re.compile(r"(encoder|decoder)\.(\d+)(?=\.)")


class OfLayer(Protocol):
    """What belongs to a layer, such as the head that aligns best."""

    @property
    def layer(self) -> int: ...


Entry = TypeVar("Entry", bound=OfLayer)


class ChosenLayers(Adapter):
    """A model of which only some layers are recorded; it runs whole.

    They are numbered anew, from 0, also in the interventions of a request, and `notices` says which
    they are. Tensors that belong to no attention of these layers are left out, except the
    candidates of each step. `changes` are interventions in every run, which name any layer by its
    number in the model.
    """

    def __init__(
        self, model: Adapter, layers: Sequence[int], changes: Sequence[Intervention] = ()
    ) -> None:
        numbers = sorted({attention.layer for attention in model.info.attentions})
        chosen = sorted(check_layers(layers, numbers))
        for stack, count in model.info.layers.items():
            if chosen[0] >= count:
                raise ValueError(
                    f"layers: {stack} has none of them; its layers are 0 … {count - 1}"
                )
        self._model = model
        self._layers = chosen
        self._changes = tuple(changes)
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
            capabilities=model.info.capabilities & CAPABILITIES,
            missing={
                **dict.fromkeys(model.info.capabilities - CAPABILITIES, "some-layers"),
                **model.info.missing,
            },
        )
        # By the name in the model; a name without a layer stays.
        self._names = {name: new for name in model.names if (new := self._name(name)) is not None}
        self.names = tuple(self._names.values())
        self.notices = (
            *model.notices,
            *about_layers(chosen),
            *_about_changes(self._changes),
        )

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

    def write(self, request: Request) -> Decoding:
        return self._model.write(self._whole_request(request))

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
            interventions=(
                *self._changes,
                *(self._whole_change(change) for change in request.interventions),
            ),
        )

    def _whole_change(self, change: Intervention) -> Intervention:
        """Return an intervention with the numbers of the model; of a path, also at its end."""
        patch = change.value
        if isinstance(patch, Patch) and patch.to:
            receiver = Receiver(self._whole_name(patch.to.at), patch.to.head)
            change = replace(change, value=replace(patch, to=receiver))
        return replace(change, at=self._whole_name(change.at))

    def _whole_name(self, name: str) -> str:
        match = LAYER.match(name)
        if not match:
            return name
        number = int(match[2])
        if number >= len(self._layers):
            raise InputError(
                "unknown-place",
                "interventions",
                f"interventions: {name} is no layer of this figure, whose layers are "
                f"0 … {len(self._layers) - 1}",
            )
        return f"{match[1]}.{self._layers[number]}{name[match.end() :]}"

    def _trace(self, request: Request, trace: Trace) -> Trace:
        return replace(
            trace,
            model=self.info,
            request=request,
            tensors=_renamed(trace.tensors, self._names),
            summaries=_renamed(trace.summaries, self._places),
        )


def _about_changes(changes: Sequence[Intervention]) -> Iterator[Notice]:
    if changes:
        names = ", ".join(f"{change.do} ({change.at})" for change in changes)
        yield doubtful(t("The model of this figure is changed: {changes}.", changes=names))


Value = TypeVar("Value")


def _renamed(values: Mapping[str, Value], names: Mapping[str, str]) -> dict[str, Value]:
    return {names[name]: value for name, value in values.items() if name in names}
