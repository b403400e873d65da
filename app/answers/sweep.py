"""Taking every head out for someone who watches: a line a batch."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from app.answers.streaming import line
from app.engine.wire import told
from model.adapters.request import Adapter, Request
from model.adapters.sweep import Sweep, sweep


@dataclass(frozen=True)
class SweepJob:
    """A sentence whose heads are taken out, and the row that is told of; None: all rows."""

    model: str
    request: Request
    effect: str
    row: int | None

    def lines(self, adapter: Adapter) -> Iterator[bytes]:
        """What it starts from, the heads as they are known, and that it has ended.

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
