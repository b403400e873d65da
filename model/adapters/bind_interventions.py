"""Computes the values of interventions for a whole batch of requests at once.

`freeze` needs the weights of another sentence, which has to be run: each distinct sentence of
a batch is run once, all in one batch, however many requests and places use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import cast

import torch
from torch import Tensor

from model.adapters.request import Request, Trace
from model.errors import Excess, InputError
from model.trace.interventions import Intervention, Pattern

MAX_SENTENCES = 8  # frozen sentences per request: each is a run of the model
ROWS = 16  # frozen sentences in one batch

Run = Callable[[Sequence[Request]], list[Trace]]


def frozen(interventions: Sequence[Intervention]) -> dict[Request, int]:
    """Return the distinct frozen sentences, each with the index of its first intervention.

    Raises `InputError` for more than `MAX_SENTENCES`.
    """
    found: dict[Request, int] = {}
    for index, one in enumerate(interventions):
        if one.do == "freeze":
            found.setdefault(_alone(one), index)
    if len(found) > MAX_SENTENCES:
        detail = (
            f"interventions freeze {len(found)} different sentences; "
            f"at most {MAX_SENTENCES} are allowed"
        )
        excess = Excess(MAX_SENTENCES, "entries", len(found))
        raise InputError("too-long", "interventions", detail, excess)
    return found


def bind(
    requests: Sequence[Request], run: Run, means: Mapping[str, Tensor], device: torch.device
) -> list[tuple[Intervention, ...]]:
    """Return each request's interventions, with patterns and means as values.

    Equal interventions share one pattern.
    """
    weights = _weights(requests, run)

    def value(one: Intervention) -> Pattern:
        if one.do == "freeze":
            found = weights[_alone(one), _name(one)].to(device)
        else:
            found = means[f"{one.at}.mix"]
        return Pattern(found if one.head is None else found[one.head])

    looked_up = {one for one in _all(requests) if one.do in ("freeze", "mean")}
    bound = {one: replace(one, value=value(one)) for one in looked_up}
    return [tuple(bound.get(one, one) for one in request.interventions) for request in requests]


def _weights(requests: Sequence[Request], run: Run) -> dict[tuple[Request, str], Tensor]:
    """Return the frozen weights (head, query, key), by sentence and name."""
    names: dict[Request, dict[str, None]] = {}
    for one in _all(requests):
        if one.do == "freeze":
            names.setdefault(_alone(one), {})[_name(one)] = None
    asked = [replace(sentence, select=tuple(wanted)) for sentence, wanted in names.items()]
    traces = [
        trace for start in range(0, len(asked), ROWS) for trace in run(asked[start : start + ROWS])
    ]
    return {
        (sentence, name): trace.tensors[name].value
        for sentence, trace in zip(names, traces, strict=True)
        for name in names[sentence]
    }


def _all(requests: Sequence[Request]) -> Iterator[Intervention]:
    return (one for request in requests for one in request.interventions)


def _alone(freeze: Intervention) -> Request:
    """Return the frozen sentence as a request that selects, changes and pads nothing."""
    sentence = cast(Request, freeze.value)
    return replace(sentence, select=(), summarise=(), interventions=(), pad_to=None)


def _name(freeze: Intervention) -> str:
    return f"{freeze.at}.weights"
