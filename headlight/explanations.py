"""Why a model wrote a token: each question of docs/inside.md and of a sweep, as one function.

Everything here is a request that `model.trace` or a sweep answers; these functions name it and
return arrays. Rows are written tokens, t of T; keys are source tokens, s of S.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.request import Patch, Request, ask
from model.adapters.requests.trace import Trace
from model.adapters.sweep import Ablation
from model.adapters.sweep import sweep as sweep_one
from model.explain.logit_lens import CONTRAST, RUNNER_UP
from model.text.tokens import Token
from model.trace.interventions import Intervention
from model.trace.tensor_names import CHANGE, INTEGRATED, OCCLUSION

Array = NDArray[np.float32]
Sentence = str | Request


def patch(
    model: Adapter,
    sentence: Sentence,
    other: Sentence,
    at: str,
    head: int | None = None,
    rows: Iterable[tuple[int, int]] | None = None,
    **options: Any,
) -> Trace:
    """Return the trace of a sentence in which a tensor has its values from another one's run.

    `at` is a tensor's name, such as "decoder.2.cross.mix", with a `head` or whole. `rows` are pairs
    of a row there and a row here; by default row i replaces row i. `options` are those of
    `model.trace`. Raises `InputError` for what does not fit.
    """
    request = ask(sentence, **options)
    pairs = None if rows is None else tuple((source, target) for source, target in rows)
    intervention = Intervention(at, "patch", head, Patch(ask(other), pairs))
    return model.trace(request, interventions=(*request.interventions, intervention))


@dataclass(frozen=True)
class Contrast:
    """log p(written) / p(against) of each row, in nats, and what it is a sum of."""

    written: tuple[Token, ...]
    against: tuple[Token, ...]
    total: Array
    """(T,)"""
    lens: Array
    """After each layer (layer, T)."""
    parts: dict[str, Array]
    """What adds to it: "self" and "cross" (layer, head, T), "ffn", "bias" and "norm" (layer, T),
    "embedding" and "position" (T,). Their sum is `total`. Empty if its logits are no sum."""


def contrast(
    model: Adapter, sentence: Sentence, against: str | int | None = None, **options: Any
) -> Contrast:
    """Explain why each written token rather than another one.

    `against` is the text or the id of the other token; by default the most probable other one of
    each row. `options` are those of `model.trace`. Raises `InputError` for a model without logits
    to read, and `ValueError` for a text that is no token.
    """
    id_ = token_id(model, against) if isinstance(against, str) else against
    prefix = f"{CONTRAST}{RUNNER_UP if id_ is None else id_}."
    trace = model.trace(sentence, **{**options, "select": (f"{prefix}*",)})
    written = _written(trace)
    found_tokens = {
        name.removeprefix(prefix): np.asarray(tensor)[..., : len(written)]
        for name, tensor in trace.tensors.items()
    }
    ids = found_tokens.pop("candidates").tolist()
    lens = found_tokens.pop("lens")
    total = found_tokens.pop("total", lens[-1])
    return Contrast(written, tuple(map(model.token, ids)), total, lens, found_tokens)


def _written(trace: Trace) -> tuple[Token, ...]:
    """Return the tokens that rows predict, as far as they are in the text."""
    if trace.written:
        return tuple(trace.written.tokens)
    tokens = trace.texts[trace.model.texts[-1]]
    return tuple(tokens[1:] if trace.model.kind == "decoder" else tokens)


def token_id(model: Adapter, text: str) -> int:
    """Return the id of the token with this text, spaces included. Raises `ValueError` if none has.

    A word often has two tokens: " cat" within a sentence, "cat" at its beginning.
    """
    ids = range(model.info.vocabulary)
    for id_ in ids:
        if model.token(id_).text == text:
            return id_
    near = [model.token(id_).text for id_ in ids if model.token(id_).text.strip() == text.strip()]
    hint = f"; there is {', '.join(map(repr, near))}" if near else ""
    raise ValueError(f"{text!r} is no token of {model.info.name}{hint}")


def occlude(model: Adapter, sentence: Sentence, **options: Any) -> Array:
    """Return by how much each written token's log-probability falls without each source token.

    (T, S), in nats. Raises `InputError` for a model that reads one text only.
    """
    trace = model.trace(sentence, **{**options, "select": (OCCLUSION,)})
    return np.asarray(trace[OCCLUSION])[: len(trace.output.tokens)]


@dataclass(frozen=True)
class IntegratedGradients:
    """Integrated gradients of each written token's log-probability, in nats."""

    values: Array
    """(T, S)"""
    change: Array
    """f(x) − f(x') for each row (T,), to which the row of `values` should sum."""

    @property
    def gap(self) -> Array:
        """By how much the sum of each row misses the change (T,): mostly by less than 2 % of it."""
        return np.asarray(self.values.sum(axis=-1) - self.change)


def integrated_gradients(model: Adapter, sentence: Sentence, **options: Any) -> IntegratedGradients:
    """Return integrated gradients from the sentence without words to the sentence.

    Raises `InputError` for a model that reads one text only, and for a source that is too long.
    """
    trace = model.trace(sentence, **{**options, "select": (INTEGRATED, CHANGE)})
    rows = len(trace.output.tokens)
    values, change = (np.asarray(trace[name])[:rows] for name in (INTEGRATED, CHANGE))
    return IntegratedGradients(values, change)


@dataclass(frozen=True)
class Effect:
    """The effect of one change, as means over the rows of all sentences, in nats."""

    at: str
    head: int | None
    token: int | None
    """The row that is changed, if only one is."""
    rows: int
    delta: float
    divergence: float
    contrast: float | None
    """None if no row has a counterpart in the run of a patch."""
    recovered: float | None
    """Of a patch; None if no row has a difference to recover."""
    also: tuple[str, int | None] | None = None
    """Of a pair: the place and the head of the second one."""
    interaction: float | None = None
    """Of a pair: its `delta` minus those of both alone."""


def sweep(
    model: Adapter,
    sentences: Sentence | Sequence[Sentence],
    effect: str | Patch | Sequence[Patch] = "zero",
    **options: Any,
) -> list[Effect]:
    """Change each part once in every sentence, and return the mean effects in order.

    `effect` is "zero", "uniform" or "mean"; a patch; or one patch for each sentence. `options` are
    those of `model.adapters.sweep.sweep`: `row`, `over`, `among` and
    `against`. Raises `InputError` for what
    cannot be swept, and `ValueError` unless there are as many patches as sentences.
    """
    requests = [sentences] if isinstance(sentences, str | Request) else list(sentences)
    effects = [effect] * len(requests) if isinstance(effect, str | Patch) else list(effect)
    if len(effects) != len(requests):
        raise ValueError(f"{len(effects)} patches for {len(requests)} sentences")
    by_change: dict[object, list[Ablation]] = defaultdict(list)
    for sentence, sentence_effect in zip(requests, effects, strict=True):
        for batch in sweep_one(model, ask(sentence), sentence_effect, **options).batches:
            for ablation in batch:
                by_change[ablation.at, ablation.head, ablation.token, ablation.also].append(
                    ablation
                )
    return [_mean(ablation) for ablation in by_change.values()]


def _mean(ablations: Sequence[Ablation]) -> Effect:
    first = ablations[0]
    delta, divergence, difference, shares, interactions = (
        [
            value
            for ablation in ablations
            for value in getattr(ablation, name) or ()
            if value is not None
        ]
        for name in ("delta", "divergence", "contrast", "recovered", "interaction")
    )
    return Effect(
        first.at,
        first.head,
        first.token,
        len(delta),
        float(np.mean(delta)),
        float(np.mean(divergence)),
        float(np.mean(difference)) if difference else None,
        float(np.mean(shares)) if shares else None,
        None if first.also is None else (first.also.at, first.also.head),
        float(np.mean(interactions)) if interactions else None,
    )
