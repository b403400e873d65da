"""The tokens whose embeddings point in nearly the same direction as those of the tokens read.

The embedding of a token is a row of a table. How alike two rows are is measured by their cosine,
which does not depend on their lengths. The position is not part of a row.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from model.text.tokens import Token
from model.trace.tensor_names import INSIDE
from model.trace.tensor_tap import QUERY, RANK, Recorder

CANDIDATES = f"{INSIDE}nearest.candidates"  # the ids of the nearest other rows, nearest first
COSINES = f"{INSIDE}nearest.cosines"
NAMES = {CANDIDATES: (QUERY, RANK), COSINES: (QUERY, RANK)}
COUNT = 10
ROWS = 64  # of the text at once: each is compared with the whole table
TABLE_ROWS = 32_768  # at once, to limit the memory of a table in float32


def look(table: Tensor, recorder: Recorder, text: str, tokens: Sequence[Token]) -> None:
    """Add to a recorder what it selects of `NAMES`, given the embedding table (V, D)."""
    if NAMES.keys().isdisjoint(recorder.select):
        return
    ids = torch.tensor([token.id for token in tokens], device=table.device)
    cosines, candidates = nearest(table, ids)
    for name, value in ((CANDIDATES, candidates), (COSINES, cosines)):
        recorder.record(name, value, NAMES[name], {QUERY: text})


def nearest(table: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return the cosines and the ids (N, 10) of the rows that are nearest to those of `ids`."""
    parts = [nearest_rows(table, some) for some in torch.split(ids, ROWS)]
    return torch.cat([cosines for cosines, _ in parts]), torch.cat([near for _, near in parts])


def nearest_rows(table: Tensor, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Return the same, comparing all rows with the table at once."""
    rows = _unit(table[ids])
    cosines = torch.cat([rows @ _unit(part).T for part in torch.split(table, TABLE_ROWS)], dim=1)
    cosines.scatter_(1, ids[:, None], -torch.inf)  # itself
    top = cosines.topk(min(COUNT, len(table) - 1), dim=1)
    return top.values, top.indices


def _unit(rows: Tensor) -> Tensor:
    precise = rows.detach().float()
    return torch.nn.functional.normalize(precise, dim=1)  # a row of zeros is like no other
