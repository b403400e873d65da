"""The head on which a figure opens if its state names none."""

import numpy as np
from numpy.typing import NDArray

from app.engine.wire import Reply
from app.figures.card import Seen, look
from app.figures.kinds import HandoutContent
from model.trace.attentions import AttentionInfo

FIXED = 0.1  # what a head still tells that looks at a fixed distance


def opened(content: HandoutContent) -> Seen:
    """Return the weights on which the page opens: those that are named, or the best of a block.

    That is the head which aligns best if the model says so, otherwise the most informative one.
    """
    state, model, trace = content.about["state"], content.about["model"], content.trace
    selection = look(state, model, trace)
    if state.get("layer") is not None or state.get("head") is not None:
        return selection
    block = selection.attention.block
    aligners = model.get("aligners") or []
    best = next((entry for entry in aligners if entry["rows"] == "writes"), None)
    if best and selection.attention.query != selection.attention.key:
        return look({**state, "layer": best["layer"], "head": best["head"]}, model, trace)
    table = [AttentionInfo(**fields) for fields in model["attentions"]]
    heads = [
        look({**state, "block": block, "layer": attention.layer, "head": head}, model, trace)
        for attention in table
        if attention.block == block and f"{attention.place}.weights" in trace.arrays
        for head in range(attention.heads)
    ]
    return max(heads, key=lambda head: _informativeness(head, trace), default=selection)


def _informativeness(selection: Seen, trace: Reply) -> float:
    """Return what the page ranks heads by (static/js/core/compute/attention-row.js)."""
    document, attention = trace.document, selection.attention
    read = document["tokens"]
    rows = document["output"]["tokens"] if selection.written else read[attention.query]
    same = attention.query == attention.key
    special = [token["special"] for token in read[attention.key]]
    if same and not any(special):
        special[0] = True  # a head that has nothing to look at looks there
    looks: list[tuple[int, int, float]] = []  # query, key, weight
    for query, (row, token) in enumerate(zip(selection.weights, rows, strict=False)):
        key = _most(row, selection.mask[query])
        if key is None or token["special"] or special[key] or (same and key == query):
            continue
        looks.append((query, key, float(row[key])))
    if not looks:
        return 0.0
    keys, distances = {key for _, key, _ in looks}, {key - query for query, key, _ in looks}
    varied = (len(distances) - 1) / (len(looks) - 1) if same and len(looks) > 1 else 1.0
    mean = sum(weight for *_, weight in looks) / len(rows)
    return mean * len(keys) / len(rows) * (FIXED + (1 - FIXED) * varied)


def _most(row: NDArray[np.float64], allowed: NDArray[np.bool_]) -> int | None:
    """Return the key with the largest weight of several; None if two print the same."""
    key = int(row.argmax())
    same = sum(f"{weight:.2f}" == f"{row[key]:.2f}" for weight in row)
    return key if row[key] > 0 and same == 1 and allowed.sum() > 1 else None
