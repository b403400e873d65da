"""The head on which a figure opens if its state names none."""

import numpy as np
from numpy.typing import NDArray

from app.engine.reply_formats import Reply
from app.figures.figure_kinds import HandoutContent
from app.figures.preview_picture import Seen, look
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
    layer, head, most = 0, 0, -1.0
    for attention in (AttentionInfo(**fields) for fields in model["attentions"]):
        weights = trace.arrays.get(f"{attention.place}.weights")
        if attention.block != block or weights is None:
            continue
        for index, matrix in enumerate(weights):
            score = _informativeness(matrix, attention, selection, trace)
            if score > most:
                layer, head, most = attention.layer, index, score
    return look({**state, "block": block, "layer": layer, "head": head}, model, trace)


def _informativeness(
    weights: NDArray[np.float32], attention: AttentionInfo, selection: Seen, trace: Reply
) -> float:
    """Return what the page ranks heads by (static/js/core/compute/attention-row.js)."""
    document = trace.document
    read = document["tokens"]
    rows = document["output"]["tokens"] if selection.written else read[attention.query]
    same = attention.query == attention.key
    special = [token["special"] for token in read[attention.key]]
    if same and not any(special):
        special[0] = True  # a head that has nothing to look at looks there
    mask = trace.arrays[f"{attention.place}.mask"]
    looks: list[tuple[int, int, float]] = []  # query, key, weight
    keys = _keys_looked_at_most(weights, mask)
    for query, (key, token) in enumerate(zip(keys, rows, strict=False)):
        if key is None or token["special"] or special[key] or (same and key == query):
            continue
        looks.append((query, key, float(weights[query, key])))
    if not looks:
        return 0.0
    looked, distances = {key for _, key, _ in looks}, {key - query for query, key, _ in looks}
    varied = (len(distances) - 1) / (len(looks) - 1) if same and len(looks) > 1 else 1.0
    mean = sum(weight for *_, weight in looks) / len(rows)
    return mean * len(looked) / len(rows) * (FIXED + (1 - FIXED) * varied)


def _keys_looked_at_most(weights: NDArray[np.float32], mask: NDArray[np.bool_]) -> list[int | None]:
    """Return the key with the largest weight of several in each row; None if two print the same."""
    keys = weights.argmax(-1)
    largest = weights.max(-1)
    others = weights.copy()
    np.put_along_axis(others, keys[:, None], -1, axis=-1)
    second = others.max(-1)
    several = mask.sum(-1) > 1
    return [
        int(key) if weight > 0 and many and f"{weight:.2f}" != f"{next_weight:.2f}" else None
        for key, weight, next_weight, many in zip(keys, largest, second, several, strict=True)
    ]
