"""Taking every head out for someone who watches: a line a batch."""

from collections.abc import Iterator
from dataclasses import asdict

from app.answers.lines import line
from app.engine.wire import told
from model.adapters.request import Adapter, Request
from model.adapters.sweep import sweep


def lines(
    name: str, adapter: Adapter, request: Request, effect: str, row: int | None
) -> Iterator[bytes]:
    """What it starts from, the heads as they are known, and that it has ended.

    `name` is the model's. Raises InputError before the first line for a row that is not written.
    """
    swept = sweep(adapter, request, effect, row)
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
