"""The changes that a sweep makes one at a time, and the rows of two similar sentences as pairs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import combinations
from typing import Literal, get_args

from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Patch, Request
from model.adapters.requests.trace import Trace
from model.errors import Excess, InputError
from model.trace.attentions import AttentionInfo, text_of_rows
from model.trace.interventions import Intervention
from model.trace.tensor_names import select
from model.trace.tensor_tap import FEATURE, QUERY

Rows = tuple[tuple[int, int], ...]


def aligned(theirs: Sequence[Hashable], ours: Sequence[Hashable]) -> Rows:
    """Return pairs of indices of tokens that correspond, in order.

    Tokens that both sentences have in the same order are paired (Ratcliff and Obershelp's longest
    matches). Between them, tokens that were exchanged for others are paired from the last one
    backwards, since the last piece of a word has read all of it; the rest of the longer side has no
    partner.
    """
    pairs = list[tuple[int, int]]()
    matcher = SequenceMatcher(None, theirs, ours, autojunk=False)
    for kind, start, end, ours_start, ours_end in matcher.get_opcodes():
        if kind in ("equal", "replace"):
            size = min(end - start, ours_end - ours_start)
            pairs += zip(range(end - size, end), range(ours_end - size, ours_end), strict=True)
    return tuple(pairs)


Ablated = Literal["zero", "uniform", "mean"]
ABLATED = get_args(Ablated)
Over = Literal["heads", "sublayers", "positions", "pairs"]
OVER = get_args(Over)
MAX_PAIRS = 3000  # of heads: one run each


@dataclass(frozen=True)
class Change:
    """One change of a sweep; `token` is our row, if it is made at one row only.

    Of a pair, `also` is the second head.
    """

    made: Intervention
    token: int | None = None
    also: Intervention | None = None

    @property
    def all(self) -> tuple[Intervention, ...]:
        """What is changed at once."""
        return (self.made,) if self.also is None else (self.made, self.also)


@dataclass(frozen=True)
class Second:
    """The second head of a pair."""

    at: str
    head: int | None


def interaction(*deltas: tuple[float, ...]) -> tuple[float, ...]:
    """Return by how much both changes together exceed the sum of each: (both, one, other)."""
    return tuple(both - first - second for both, first, second in zip(*deltas, strict=True))


def check(
    adapter: Adapter,
    request: Request,
    effect: str | Patch,
    over: str,
    among: Sequence[str] | None = None,
) -> None:
    """Raise `InputError` for an effect that cannot be swept over these parts of the model."""
    if over not in OVER:
        raise InputError("unknown-value", "over", f"over must be one of {', '.join(OVER)}")
    _check_pairs(adapter.info, over, among)
    if isinstance(effect, Patch):
        if over == "pairs":
            raise InputError("unknown-value", "over", "over: a patch is not made in pairs")
        intervention = _sample(adapter, effect, over)
    elif effect not in ABLATED:
        detail = f"effect must be a patch or one of {', '.join(ABLATED)}"
        raise InputError("unknown-effect", "effect", detail)
    elif over == "sublayers" and effect == "zero":
        intervention = Intervention(_first(_places(adapter, over), over)[0], effect)
    elif over not in ("heads", "pairs"):
        detail = f"over must be heads or pairs: {effect} acts on heads"
        raise InputError("unknown-value", "over", detail)
    else:
        intervention = Intervention(adapter.info.places[0], effect, 0)
    try:
        adapter.check(replace(request, interventions=(intervention,)))
    except InputError as error:
        field = error.field.removeprefix("interventions[0]").removeprefix(".do")
        raise error.at(f"effect{field}") from error


def _check_pairs(info: ModelInfo, over: str, among: Sequence[str] | None) -> None:
    """Raise `InputError` for attentions that do not exist, or for too many pairs of heads."""
    if over != "pairs":
        if among is not None:
            detail = f"among must be left out: over is {over}, not pairs"
            raise InputError("unknown-field", "among", detail)
        return
    if among is not None:
        select(among, info.places, "among")
    heads = _paired_heads(info, among)
    pairs = heads * (heads - 1) // 2
    if pairs > MAX_PAIRS:
        detail = (
            f"among: {heads} heads make {pairs} pairs; at most {MAX_PAIRS} are tried, "
            "such as those of one attention"
        )
        raise InputError("too-long", "among", detail, Excess(MAX_PAIRS, "entries", pairs))


def _among(info: ModelInfo, among: Sequence[str] | None) -> Iterator[AttentionInfo]:
    places = info.places if among is None else select(among, info.places, "among")
    return (attention for attention in info.attentions if attention.place in places)


def _paired_heads(info: ModelInfo, among: Sequence[str] | None) -> int:
    return sum(attention.heads for attention in _among(info, among))


def changes(
    adapter: Adapter,
    effect: str | Patch,
    over: str,
    rows: Mapping[str, Rows],
    among: Sequence[str] | None = None,
) -> Iterator[Change]:
    """Yield the changes of a checked sweep, in the model's order.

    `rows` are the pairs of rows (theirs, ours) of each text, for a patch. `among` are patterns of
    the attentions whose heads are paired: each head is changed alone first.
    """
    if not isinstance(effect, Patch):
        if over == "sublayers":
            yield from (Change(Intervention(name, effect)) for name, *_ in _places(adapter, over))
            return
        single = [
            Intervention(attention.place, effect, number)
            for attention in _among(adapter.info, among)
            for number in range(attention.heads)
        ]
        yield from map(Change, single)
        if over == "pairs":
            yield from (Change(first, also=second) for first, second in combinations(single, 2))
        return
    for name, text, heads in _places(adapter, over):
        if not rows[text]:
            continue
        if over == "positions":
            for pair in rows[text]:
                patch = replace(effect, rows=(pair,))
                yield Change(Intervention(name, "patch", None, patch), pair[1])
            continue
        for head in (*range(heads), None):  # at last all heads together
            yield Change(Intervention(name, "patch", head, replace(effect, rows=rows[text])))


def count(
    info: ModelInfo,
    effect: str | Patch,
    over: str,
    tokens: int,
    among: Sequence[str] | None = None,
) -> int:
    """Return about how many changes a sweep makes, if no text has more than so many tokens."""
    if over == "pairs":
        heads = _paired_heads(info, among)
        return heads * (heads + 1) // 2
    if over == "heads":  # for a patch, also all heads of an attention together
        return sum(attention.heads + isinstance(effect, Patch) for attention in info.attentions)
    layers = sum(info.layers.values())
    return (layers + len(info.layers)) * tokens if over == "positions" else 3 * layers


def paired(effect: Patch, donor: Trace, base: Trace) -> dict[str, Rows]:
    """Return the pairs of rows of each text: those given for the first text, or aligned tokens."""
    first, *_ = base.texts
    ids = [
        {text: [token.id for token in tokens] for text, tokens in run.texts.items()}
        for run in (donor, base)
    ]
    return {
        text: effect.rows if effect.rows and text == first else aligned(ids[0][text], ids[1][text])
        for text in base.texts
    }


def counterparts(base: Trace, donor: Trace, pairs: Rows, rows: Sequence[int]) -> list[int | None]:
    """Return which token that the other run predicts each of these is compared with; None: none.

    Both runs write the same target, so its token i is token i. A model of one text predicts the
    tokens of the texts as well, which may differ in length: there a row is compared with the one
    that it is paired with, and what continues the texts with what continues them.
    """
    count = len(donor.output.tokens) if donor.written else 0
    before, theirs = base.output.continues, donor.output.continues if donor.written else 0
    partners = {ours: row for row, ours in pairs}
    compared = [row - before + theirs if row >= before else partners.get(row) for row in rows]
    last = max((row for row in compared if row is not None), default=-1)
    if count <= last:
        detail = f"effect.patch: the other run writes {count} tokens; {last + 1} are compared"
        raise InputError("does-not-fit", "effect.patch", detail)
    return compared


def _sample(adapter: Adapter, effect: Patch, over: str) -> Intervention:
    """Return one of a patch's changes, whose check is that of all of them."""
    read = adapter.info.texts[0]
    places = (place for place in _places(adapter, over) if place[1] == read)
    name, _, heads = _first(places, over)
    # Without rows, the tokens are aligned.
    patch = replace(effect, rows=((0, 0),) if effect.rows is None else effect.rows)
    return Intervention(name, "patch", 0 if heads else None, patch)


def _first(places: Iterator[tuple[str, str, int]], over: str) -> tuple[str, str, int]:
    first = next(places, None)
    if first is None:
        raise InputError("unsupported", "over", f"over: this model records no {over} to change")
    return first


def _places(adapter: Adapter, over: str) -> Iterator[tuple[str, str, int]]:
    """Yield the name of each tensor to patch, the text of its rows, and its heads (0: none)."""
    info = adapter.info
    if over == "heads":
        for attention in info.attentions:
            if f"{attention.place}.mix" in adapter.names:
                yield f"{attention.place}.mix", attention.query, attention.heads
    elif over == "sublayers":
        for name in adapter.names:
            if name.endswith(".output"):
                yield name, text_of_rows(name, (QUERY, FEATURE), info.attentions), 0
    else:
        layers: dict[tuple[str, str], int] = {}
        for attention in info.attentions:
            layers[attention.stack, attention.query] = attention.layer + 1
        for (stack, text), count in layers.items():
            last = "norm" if info.norm == "post" else "residual"
            stream = [f"{text}.input", *(f"{stack}.{n}.ffn.{last}" for n in range(count))]
            yield from ((name, text, 0) for name in stream if name in adapter.names)
