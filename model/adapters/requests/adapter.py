"""One head's part of a matrix: `decoder.0.self.W_q.3` is the columns of W_q of head 3.

The matrices of a large model take long to send, and a calculation by hand needs those of one head.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from model.errors import InputError
from model.trace.attentions import AttentionInfo
from model.trace.name_patterns import MAX_PATTERNS, matches
from model.trace.tensor_tap import NamedTensor

SLICE = re.compile(r"(?P<place>[\w.]+)\.(?P<name>[Wb]_[qkv])\.(?P<head>\d{1,4})")
Find = Callable[[Sequence[str]], Mapping[str, NamedTensor]]


def with_slices(
    select: Sequence[str], attentions: Iterable[AttentionInfo], find: Find
) -> dict[str, NamedTensor]:
    """Return the parameters that `find` returns for patterns, and the slices that are named.

    W_k, W_v, b_k and b_v have a slice for each head of keys and values. Raises `InputError` for a
    head that does not exist.
    """
    if len(select) > MAX_PATTERNS or not any(map(SLICE.fullmatch, select)):
        return dict(find(select))
    known = {one.place: one for one in attentions}
    slices = [SLICE.fullmatch(pattern) for pattern in select]
    cuts = [match if match and match["place"] in known else None for match in slices]
    bases = [
        f"{cut['place']}.{cut['name']}" if cut else pattern
        for cut, pattern in zip(cuts, select, strict=True)
    ]
    whole = find(bases)
    found: dict[str, NamedTensor] = {}
    for index, (cut, pattern) in enumerate(zip(cuts, select, strict=True)):
        if cut is None:
            found |= {name: one for name, one in whole.items() if matches(pattern, name)}
            continue
        one, head = known[cut["place"]], int(cut["head"])
        heads = one.heads if cut["name"].endswith("q") else one.kv_heads
        if head >= heads:
            field = f"select[{index}]"
            detail = f"{field}: {bases[index]} has heads 0 to {heads - 1}"
            raise InputError("unknown-tensor", field, detail)
        found[pattern] = _cut(whole[bases[index]], head, heads)
    return found


def _cut(whole: NamedTensor, head: int, heads: int) -> NamedTensor:
    width = whole.value.shape[-1] // heads
    return replace(whole, value=whole.value[..., head * width : (head + 1) * width].contiguous())
