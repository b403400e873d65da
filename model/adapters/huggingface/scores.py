"""Describes how the attentions of a model of `transformers` compute their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from torch import Tensor

from model.adapters.huggingface.anatomy import Anatomy
from model.adapters.huggingface.parameters import OFFSETS, Calculation, Parameter
from model.adapters.huggingface.projections import Projection, Projections
from model.adapters.huggingface.readout import ends, stack_of
from model.adapters.huggingface.rotation import Rotation
from model.adapters.huggingface.terms import FFN, norm_of
from model.explain.score_terms import Scores, Side
from model.explain.stream import Norm, Stack
from model.explain.stream_terms import Reader
from model.trace.attentions import SELF
from model.trace.tensor_tap import SOURCE

Read = tuple[Stack, Reader | None, Norm | None]


def scores_of(
    anatomies: Sequence[Anatomy], calculations: Mapping[str, Calculation]
) -> dict[str, Scores]:
    """Return the scores of each attention, by place, for which all that they are made of is known.

    Not of those with a soft cap: they are not a sum.
    """
    found: dict[str, Scores] = {}
    memory: Read | None = None
    for anatomy in anatomies:
        if (stack := stack_of(anatomy)) is None:
            continue
        for index, terms in enumerate(anatomy.terms):
            for order, term in enumerate(terms):
                place = f"{anatomy.stack}.{index}.{term.name}"
                if term.name == FFN or (made := calculations[place].projections) is None:
                    continue
                before = None if made.before is None else norm_of(made.before)
                reads = stack, (index, order), before
                keys = reads if term.name == SELF else memory
                if keys and (scores := _scores(calculations[place], made, reads, keys)):
                    found[place] = scores
        if anatomy.text == SOURCE:
            memory = (stack, None, None) if ends(anatomy) else None
    return found


def _scores(calculation: Calculation, made: Projections, query: Read, key: Read) -> Scores | None:
    call, pi = calculation.call, calculation.parameters.get("pi")
    added = call.bias is not None and bool(call.bias.any())
    if call.cap is not None or (added and pi is None):
        return None
    heads, groups = call.q.shape[1], call.k.shape[1]
    return Scores(
        query=_side("q", made.q, query, heads, 1, made.rotation),
        key=_side("k", made.k, key, groups, heads // groups, made.rotation),
        scale=call.scale,
        offset=None if pi is None else partial(_offset, pi),
    )


def _side(
    letter: str, one: Projection, read: Read, count: int, share: int, rotation: Rotation | None
) -> Side:
    stack, reader, before = read

    def of(values: Tensor, head: int) -> Tensor:
        """Return the columns of a head of values (…, H · d)."""
        width = values.shape[-1] // count
        return values[..., head * width : (head + 1) * width]

    return Side(
        stack=stack,
        reader=reader,
        letter=letter,
        matrix=lambda head: of(one.W, head),
        bias=lambda head: None if one.b is None else of(one.b, head),
        share=share,
        before=before,
        norm=None if one.norm is None else norm_of(one.norm),
        turn=None if rotation is None else lambda terms, at: rotation(terms[:, None], at)[:, 0],
    )


def _offset(pi: Parameter, head: int, query: int, key: int) -> float:
    at = min(max(key - query, -OFFSETS), OFFSETS) + OFFSETS
    return float(pi[1]()[head, at])
