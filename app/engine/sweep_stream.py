"""Streaming a sweep over heads, pairs of them, sublayers or positions, one line per batch."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from app.engine.cost_estimates import lengths, sweeping
from app.engine.jobs import StreamJob
from app.engine.reply_formats import line, told
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Patch, Request
from model.adapters.sweep import Sweep, at_once, sweep
from model.adapters.sweep_changes import count
from model.text.tokens import Token
from model.trace.interventions import Intervention


@dataclass(frozen=True)
class SweepJob(StreamJob):
    """A sentence, what is changed part by part, and the row to report; None for all rows."""

    request: Request
    effect: str | Patch
    row: int | None
    over: str = "heads"
    against: int | None = None
    among: tuple[str, ...] | None = None

    def price(self, info: ModelInfo) -> float:
        """Return the cost of one run per change."""
        return sweeping(self._with_other(), info, self._changes(info))

    def line_price(self, info: ModelInfo) -> float:
        """Return the cost of one batch of changes."""
        batch = at_once(info, sum(lengths(self.request, info)))
        return self.price(info) * min(1.0, batch / max(1, self._changes(info)))

    def _changes(self, info: ModelInfo) -> int:
        """Return about how many changes are made."""
        read, written = lengths(self.request, info)
        return count(info, self.effect, self.over, int(max(read, written)), self.among)

    def _with_other(self) -> Request:
        """Return the request with the other sentence, if there is one."""
        if isinstance(self.effect, str):
            return self.request
        patch = Intervention("", "patch", None, self.effect)
        return replace(self.request, interventions=(*self.request.interventions, patch))

    def lines(self, adapter: Adapter) -> Iterator[bytes]:
        """Yield the first line, the heads as they are computed, and the last line.

        Raises InputError before the first line as `model.adapters.sweep.sweep` does.
        """
        swept = sweep(
            adapter, self.request, self.effect, self.row, self.over, self.against, self.among
        )
        return _lines(self.model, swept)


def _lines(name: str, swept: Sweep) -> Iterator[bytes]:
    base = swept.base
    start = {
        "model": name,
        **told(base),
        "changes": swept.changes,
        "output": asdict(base.output),
        "logprobs": [base.output.logprobs[row] for row in swept.rows],
        "against": [_piece(token) for token in swept.against],
        "contrast": swept.contrast,
        "candidates": [[_piece(token) for token in row] for row in swept.candidates],
    }
    if (other_run := swept.other) is not None:
        start["other"] = {
            "tokens": told(other_run.trace)["tokens"],
            "contrast": other_run.contrast,
            "rows": other_run.pairs,
        }
    yield line({"start": start})
    done = 0
    for batch in swept.batches:
        done += len(batch)
        yield line({"changes": [asdict(change) for change in batch], "done": done})
    yield line({"end": {}})


def _piece(token: Token) -> dict[str, Any]:
    return {"id": token.id, "text": token.text, "special": token.special}
