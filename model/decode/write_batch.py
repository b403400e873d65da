"""Greedy and sampled translations of a batch, without yielding steps."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from model.decode.sampling import Dice, Draw
from model.decode.search import Ends, Reader


def write(
    reader: Reader,
    tokenizer: Ends,
    limits: Sequence[int],
    draws: Sequence[Draw | None],
    prefixes: Sequence[Sequence[int]],
) -> list[tuple[int, ...]]:
    """Return the ids that `model.decode.search.sample` writes; the arguments are the same.

    Rows that have ended leave the batch.
    """
    rows = list(range(len(limits)))  # the rows still in the batch
    dice, written = Dice(draws), [list[int]() for _ in rows]
    for length in range(max(limits)):
        ids, _ = dice.throw(reader.logprobs())
        chosen = ids.tolist()
        for place, row in enumerate(rows):
            if length < len(prefixes[row]):
                chosen[place] = prefixes[row][length]
            written[row].append(chosen[place])
        going = [
            place
            for place, row in enumerate(rows)
            if chosen[place] not in tokenizer.ends and length + 1 < limits[row]
        ]
        if not going:
            break
        if len(going) < len(rows):
            rows, chosen = [rows[place] for place in going], [chosen[place] for place in going]
            reader.keep(torch.tensor(going, device=ids.device))
            dice.keep(going)
        reader.append(torch.tensor(chosen, device=ids.device))
    return [tuple(ids) for ids in written]
