"""Streaming a sweep over all heads, one line per batch."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from app.engine.jobs import StreamJob
from app.engine.price import lengths, sweeping
from app.engine.wire import line, told
from model.adapters.model_info import ModelInfo
from model.adapters.request import Adapter, Request
from model.adapters.sweep import TOKENS, Sweep, sweep


@dataclass(frozen=True)
class SweepJob(StreamJob):
    """A sentence whose heads are ablated, and the row to report; None for all rows."""

    request: Request
    effect: str
    row: int | None

    def price(self, info: ModelInfo) -> float:
        """Return the cost of one run per head."""
        return sweeping(self.request, info)

    def line_price(self, info: ModelInfo) -> float:
        """Return the cost of one batch of heads."""
        heads = sum(one.heads for one in info.attentions)
        batch = max(1.0, TOKENS // max(1.0, sum(lengths(self.request, info))))
        return self.price(info) * min(1.0, batch / max(1, heads))

    def lines(self, adapter: Adapter) -> Iterator[bytes]:
        """Yield the first line, the heads as they are computed, and the last line.

        Raises InputError before the first line as `model.adapters.sweep.sweep` does.
        """
        return _lines(self.model, sweep(adapter, self.request, self.effect, self.row))


def _lines(name: str, swept: Sweep) -> Iterator[bytes]:
    base = swept.base
    yield line(
        {
            "start": {
                "model": name,
                **told(base),
                "heads": swept.heads,
                "output": asdict(base.output),
                "logprobs": [base.output.logprobs[row] for row in swept.rows],
            }
        }
    )
    done = 0
    for batch in swept.batches:
        done += len(batch)
        yield line({"heads": [asdict(one) for one in batch], "done": done})
    yield line({"end": {}})
