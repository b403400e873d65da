"""Computes the values of interventions for a whole batch of requests at once.

`patch`, `freeze` and `add` need tensors of other sentences, which have to be run: each distinct
sentence of a batch is run once, all in one batch, however many requests and places use it.

A patch with `to` shows the effect of one part on another, along the direct path between them only
(path patching). It puts what another run has at a sender into this run, but lets it reach one
receiver alone. Three runs give the receiver's new value:

1. this run, without the patch: the output of every sublayer is kept;
2. the sender is patched, and all sublayers but its own and the receiver's are frozen at these
   outputs. So the sender's change reaches the receiver through the residual stream and its norms,
   and through no other head and no feed-forward network. The receiver's value is kept;
3. the receiver is patched with this value, and everything after it is computed again.

Other changes of the request are in all three runs; each path is computed without the other paths.

Sources: Wang et al. 2023, "Interpretability in the Wild", section 3.1 (there, feed-forward networks
are recomputed in the second run); Goldowsky-Dill et al. 2023, "Localizing Model Behavior with Path
Patching", which counts every other path as another one, as here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import torch
from torch import Tensor

from model.adapters.requests.request import (
    Patch,
    Receiver,
    Request,
    Step,
    alone,
    patch_of,
    path_of,
    runs_of,
)
from model.adapters.requests.trace import Trace
from model.trace.attentions import Attentions
from model.trace.interventions import Added, Intervention, Mean, OtherRun
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
    tensors = _taken(requests, run)

    def vector(intervention: Intervention) -> Tensor:
        step = intervention.value
        if not isinstance(step, Step):
            return torch.tensor(step)
        rows = [(tensors[alone(end.request), intervention.at].value, end.row) for end in step.ends]
        if any(row >= len(value) for value, row in rows):  # a text that ended earlier
            return torch.zeros_like(rows[0][0][0])
        to, *minus = (value[row] for value, row in rows)
        return step.times * (to - minus[0] if minus else to)

    def value(intervention: Intervention) -> OtherRun | Mean | Added:
        if intervention.do == "add":
            return Added(vector(intervention).to(device))
        if intervention.do == "mean":
            mean = means[f"{intervention.at}.mix"]
            return Mean(mean if intervention.head is None else mean[intervention.head])
        named = patch_of(intervention)
        assert named is not None
        name, patch = named
        tensor = tensors[patch.request, name]
        theirs = tensor.value if intervention.head is None else tensor.value[intervention.head]
        unseen = -torch.inf if name.endswith(".scores") else 0.0
        return OtherRun(theirs.to(device), patch.rows, tensor.dims[-1] == KEY, unseen)

    looked_up = {
        change for change in _all(requests) if change.do in ("mean", "add") or patch_of(change)
    }
    bound = {change: replace(change, value=value(change)) for change in looked_up}
    return [
        tuple(
            paths.get((request, change)) or bound.get(change, change)
            for change in request.interventions
        )
        for request in requests
    ]


def _taken(requests: Sequence[Request], run: Run) -> dict[tuple[Request, str], NamedTensor]:
    """Return the tensors of other runs, by sentence and name."""
    names: dict[Request, dict[str, None]] = {}
    for intervention in _all(requests):
        for name, sentence in runs_of(intervention):
            names.setdefault(sentence, {})[name] = None
    selecting = [replace(sentence, select=tuple(selected)) for sentence, selected in names.items()]
    traces = [
        trace
        for start in range(0, len(selecting), ROWS)
        for trace in run(selecting[start : start + ROWS])
    ]
    return {
        (sentence, name): trace.tensors[name]
        for sentence, trace in zip(names, traces, strict=True)
        for name in names[sentence]
    }


def _all(requests: Sequence[Request]) -> Iterator[Intervention]:
    """Yield all interventions that act where they are made."""
    return (
        change for request in requests for change in request.interventions if not path_of(change)
    )


OUTPUT = ".output"
# What a sublayer computes, up to its output; the stream is not part of any.
WITHIN = ("q", "k", "v", "scores", "mask", "weights", "mix", "hidden", "projected", "output")


def along_paths(
    requests: Sequence[Request], run: Run, device: torch.device
) -> dict[tuple[Request, Intervention], Intervention]:
    """Return the patch of its receiver for each request and its patch along a path."""
    paths = [
        (request, patch, to)
        for request in requests
        for patch in request.interventions
        if (to := path_of(patch)) is not None
    ]
    if not paths:
        return {}
    size = max(ROWS, len(requests))
    plain = list({_without(request): None for request, _, _ in paths})
    first = dict(zip(plain, _in_batches(plain, run, size), strict=True))
    frozen = {request: _frozen(trace, device) for request, trace in first.items()}
    patched: list[Request] = []
    for request, patch, to in paths:
        base = _without(request)
        still = [freeze for freeze in frozen[base] if _place(freeze.at) not in _own(patch, to)]
        assert isinstance(patch.value, Patch)
        sender = replace(patch, value=replace(patch.value, to=None))
        changes = (*base.interventions, sender, *still)
        patched.append(replace(_again(base, first[base]), interventions=changes, select=(to.at,)))
    return {
        (request, patch): _received(trace, to, device)
        for (request, patch, to), trace in zip(paths, _in_batches(patched, run, size), strict=True)
    }


def can_follow(names: Sequence[str], attentions: Attentions) -> bool:
    """Return whether all sublayers can be frozen: the output of each is one of the tensors."""
    places = {attention.place for attention in attentions} | {
        f"{o.stack}.{o.layer}.ffn" for o in attentions
    }
    return {f"{place}{OUTPUT}" for place in places} <= {*names}


def _in_batches(requests: Sequence[Request], run: Run, size: int) -> Iterator[Trace]:
    for start in range(0, len(requests), size):
        yield from run(requests[start : start + size])


def _without(request: Request) -> Request:
    """Return the request without its paths, recording the outputs of all sublayers."""
    not_paths = tuple(change for change in request.interventions if path_of(change) is None)
    return replace(
        request, interventions=not_paths, select=(f"*{OUTPUT}",), summarise=(), pad_to=None
    )


def _again(request: Request, trace: Trace) -> Request:
    """Return the request with what it wrote as its target, by ids."""
    if request.target is not None or trace.written is None:
        return request
    ids = tuple(token.id for token in trace.output.tokens[trace.output.continues :])
    return replace(request, decode=replace(request.decode, prefix=ids, max_tokens=len(ids)))


def _frozen(trace: Trace, device: torch.device) -> list[Intervention]:
    """Return patches that give every sublayer the output that it has in this run."""
    return [
        Intervention(name, "patch", None, OtherRun(tensor.value.to(device)))
        for name, tensor in trace.tensors.items()
    ]


def _place(name: str) -> str | None:
    """Return the sublayer that computes a tensor; None: it is of the stream."""
    place, _, part = name.rpartition(".")
    return place if part in WITHIN else None


def _own(sender: Intervention, to: Receiver) -> set[str | None]:
    return {_place(sender.at), _place(to.at)}


def _received(trace: Trace, to: Receiver, device: torch.device) -> Intervention:
    tensor = trace.tensors[to.at]
    value = tensor.value if to.head is None else tensor.value[to.head]
    # Both runs have the same keys, apart from later ones of a text that is being written.
    donor = OtherRun(value.to(device), None, tensor.dims[-1] == KEY)
    return Intervention(to.at, "patch", to.head, donor)
