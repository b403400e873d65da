"""Computes the values of interventions for a whole batch of requests at once.

`patch`, `freeze` and `add` need tensors of other sentences, which have to be run: each distinct
sentence of a batch is run once, all in one batch, however many requests and places use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from model.adapters.other_runs import Step, alone, patch_of, path_of, runs_of
from model.adapters.requests.bind_interventions import along_paths
from model.adapters.requests.request import Request, Trace
from model.trace.feature_changes import Added
from model.trace.interventions import Intervention, Mean, OtherRun
from model.trace.tensor_tap import KEY, NamedTensor

ROWS = 16  # other sentences in one batch

Run = Callable[[Sequence[Request]], list[Trace]]


def bind(
    requests: Sequence[Request], run: Run, means: Mapping[str, Tensor], device: torch.device
) -> list[tuple[Intervention, ...]]:
    """Return each request's interventions, with tensors of other runs and means as values.

    Equal interventions share one value.
    """
    paths = along_paths(requests, run, device)
    taken = _taken(requests, run)

    def vector(one: Intervention) -> Tensor:
        step = one.value
        if not isinstance(step, Step):
            return torch.tensor(step)
        there = [(taken[alone(end.request), one.at].value, end.row) for end in step.ends]
        if any(row >= len(value) for value, row in there):  # a text that ended earlier
            return torch.zeros_like(there[0][0][0])
        to, *minus = (value[row] for value, row in there)
        return step.times * (to - minus[0] if minus else to)

    def value(one: Intervention) -> OtherRun | Mean | Added:
        if one.do == "add":
            return Added(vector(one).to(device))
        if one.do == "mean":
            mean = means[f"{one.at}.mix"]
            return Mean(mean if one.head is None else mean[one.head])
        named = patch_of(one)
        assert named is not None
        name, patch = named
        tensor = taken[patch.request, name]
        theirs = tensor.value if one.head is None else tensor.value[one.head]
        unseen = -torch.inf if name.endswith(".scores") else 0.0
        return OtherRun(theirs.to(device), patch.rows, tensor.dims[-1] == KEY, unseen)

    looked_up = {one for one in _all(requests) if one.do in ("mean", "add") or patch_of(one)}
    bound = {one: replace(one, value=value(one)) for one in looked_up}
    return [
        tuple(paths.get((request, one)) or bound.get(one, one) for one in request.interventions)
        for request in requests
    ]


def _taken(requests: Sequence[Request], run: Run) -> dict[tuple[Request, str], NamedTensor]:
    """Return the tensors of other runs, by sentence and name."""
    names: dict[Request, dict[str, None]] = {}
    for one in _all(requests):
        for name, sentence in runs_of(one):
            names.setdefault(sentence, {})[name] = None
    asked = [replace(sentence, select=tuple(wanted)) for sentence, wanted in names.items()]
    traces = [
        trace for start in range(0, len(asked), ROWS) for trace in run(asked[start : start + ROWS])
    ]
    return {
        (sentence, name): trace.tensors[name]
        for sentence, trace in zip(names, traces, strict=True)
        for name in names[sentence]
    }


def _all(requests: Sequence[Request]) -> Iterator[Intervention]:
    """Yield all interventions that act where they are made."""
    return (one for request in requests for one in request.interventions if not path_of(one))
