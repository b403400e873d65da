"""Why one token rather than another: what each part adds to log p(w) / p(z).

For a row that predicts w, and another token z with output vector e_z,

    log p(w) / p(z) = logit_w − logit_z = (e_w − e_z) · x_L + b_w − b_z

is a sum of the same terms as a logit (`model.explain.logit_lens`), along another direction: what
raises all logits alike adds nothing. The lens reads it after every layer, and the gradient of one
row's tells how much it depends on each attention weight.

Selected by name. `inside.contrast.runner-up.…` contrasts with the most probable token other than
w, `inside.contrast.1234.…` with the token of that id:

    ….self .cross .ffn .bias .norm .embedding .position .total   as those of `inside.logit.…`
    ….lens           the contrast after each layer
    ….candidates     the id of z for each row
    ….3.decoder.0.self   gradient × attention of row 3, of this attention

Source: the difference of two logits as what is to be explained, Wang et al. 2023,
"Interpretability in the Wild", section 3.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from model.errors import Excess, InputError
from model.trace.tensor_names import INSIDE
from model.trace.tensor_tap import HEAD, KEY, LAYER, QUERY

CONTRAST = f"{INSIDE}contrast."
RUNNER_UP: Literal["runner-up"] = "runner-up"
NAMED = re.compile(rf"{re.escape(CONTRAST)}({RUNNER_UP}|\d{{1,9}})\.(?:(\d{{1,6}})\.)?(.+)")
PARTS = {"lens": (LAYER, QUERY), "candidates": (QUERY,)}  # besides those of a logit
MOST = 8  # tokens and rows that a request may name


@dataclass(frozen=True)
class Contrast:
    """A token to contrast with, and the row whose gradient is asked for, if any."""

    against: str  # an id, or `RUNNER_UP`
    row: int | None

    @property
    def id(self) -> int | None:
        """The token's id; None: the most probable other one of each row."""
        return None if self.against == RUNNER_UP else int(self.against)

    def name(self, part: str) -> str:
        """Return the name of one of its tensors."""
        row = "" if self.row is None else f"{self.row}."
        return f"{CONTRAST}{self.against}.{row}{part}"


def parsed(name: str) -> tuple[Contrast, str] | None:
    """Return the contrast that a pattern or name is about, and its part; None if it is another."""
    if not (match := NAMED.fullmatch(name)):
        return None
    against, row, part = match.groups()
    return Contrast(against, None if row is None else int(row)), part


def contrasts(patterns: Collection[str]) -> dict[Contrast, str]:
    """Return the contrasts that patterns or names are about, each with the first of them."""
    fields: dict[Contrast, str] = {}
    for pattern in patterns:
        if contrast := parsed(pattern):
            fields.setdefault(contrast[0], pattern)
    return fields


def names(
    logit: Mapping[str, tuple[str, ...]], places: Sequence[str], patterns: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return the tensors of all contrasts that patterns name, with their dims.

    `logit` are the parts of a logit with their dims, `places` the attentions that have gradients.
    """
    dims_by_name: dict[str, tuple[str, ...]] = {}
    for contrast in contrasts(patterns):
        parts = (
            {**logit, **PARTS}
            if contrast.row is None
            else dict.fromkeys(places, (HEAD, QUERY, KEY))
        )
        dims_by_name |= {contrast.name(part): dims for part, dims in parts.items()}
    return dims_by_name


def check(patterns: Sequence[str], vocabulary: int, rows: int) -> None:
    """Raise `InputError` for too many contrasts, or a token or row that does not exist."""
    fields = contrasts(patterns)
    if len(fields) > MOST:
        detail = f"select names {len(fields)} tokens and rows of {CONTRAST}*; at most {MOST}"
        raise InputError(
            "too-many-patterns", "select", detail, Excess(MOST, "entries", len(fields))
        )
    for contrast, pattern in fields.items():
        field = f"select[{list(patterns).index(pattern)}]"
        for name, value, size in (("token", contrast.id, vocabulary), ("row", contrast.row, rows)):
            if value is not None and value >= size:
                detail = f"{field}: {name} must be from 0 to {size - 1}"
                raise InputError("out-of-range", field, detail)


def selected(names_: Collection[str], *, rows: bool) -> Iterator[tuple[Contrast, set[str]]]:
    """Yield the contrasts of one row (`rows`), or of all rows, with their selected parts."""
    parts: dict[Contrast, set[str]] = {}
    for name in names_:
        if contrast_and_part := parsed(name):
            parts.setdefault(contrast_and_part[0], set()).add(contrast_and_part[1])
    yield from (
        (contrast, names) for contrast, names in parts.items() if (contrast.row is not None) == rows
    )
