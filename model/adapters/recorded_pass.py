"""One pass of a batch through the model, every row of it recorded."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from torch import Tensor

from model.adapters.token_rows import Rows
from model.explain.logit_lens import look
from model.explain.relevance import TokenBatch
from model.text.tokens import Token
from model.trace.tensor_tap import SOURCE, BatchTap, Recorder
from model.transformer.stacks import Transformer

ENCODING = ("source", "encoder.")  # how names begin up to the encoder's end


def forward(
    model: Transformer,
    rows: Rows,
    recorders: Sequence[Recorder],
    sources: Sequence[Sequence[Token]],
    targets: Sequence[Sequence[Token]],
    written: Sequence[Sequence[Token]],
) -> Tensor:
    """Reads the sources and targets and records what is asked for of each row.

    `written` is what the row's target writes, without padding. Returns log-probabilities
    (B, T, V) on the CPU, T the longest target.
    """
    source_ids, source_real = rows.batch(sources)
    target_ids, target_real = rows.batch(targets)
    memory = _memory(model, source_ids, source_real, recorders)
    tap = BatchTap(recorders)
    x = model.decode(target_ids, target_real, memory, source_real, tap)
    logits = model.logits(x, tap)
    batch = TokenBatch(source_ids, source_real, target_ids, target_real)
    look(model, batch, recorders, [[token.id for token in tokens] for tokens in written])
    return logits.log_softmax(dim=-1).cpu()


def _memory(model: Transformer, ids: Tensor, real: Tensor, recorders: Sequence[Recorder]) -> Tensor:
    """What the encoder makes of `ids` (B, S): (B, S, d_model).

    Rows that read the same, and neither record nor change anything of it differently, are run
    once: most of a sweep over heads is.
    """
    first: dict[Hashable, int] = {}
    rows = [
        first.setdefault((tuple(row), _encoding(recorder, index)), index)
        for index, (row, recorder) in enumerate(zip(ids.tolist(), recorders, strict=True))
    ]
    run = list(first.values())
    tap = BatchTap([recorders[row] for row in run])
    memory = model.encode(ids[run], real[run], tap)
    return memory[[run.index(row) for row in rows]]


def _encoding(recorder: Recorder, index: int) -> Hashable:
    """What a row does to the encoder; nobody else's if it records there."""
    if any(name.startswith(ENCODING) for name in recorder.select):
        return index
    made = tuple(one for one in recorder.interventions if one.at.startswith(ENCODING))
    return recorder.lengths[SOURCE], made
