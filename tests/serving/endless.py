"""A model whose runs never end on their own."""

import asyncio
import time
from collections.abc import Sequence
from typing import Any

from app.engine.engine import Bounds, Engine
from app.engine.fair_queue import NOBODY, Client, asking
from app.engine.model_catalog import Catalog
from app.engine.runners import Runners
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.progress import go_on
from tests.serving.slow import Slow
from tests.serving.small_engine import job


class Endless(Slow):
    """A model whose runs end only when they are stopped."""

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        self.batches.append([request.source for request in requests])
        self.started.set()
        while not self.go.is_set():
            go_on()
            time.sleep(0.001)
        return super().run(requests)


def engine_of(model: Slow, **more: Any) -> Engine:
    bounds = Bounds(**{"max_queue": 8, "max_batch": 4, "max_wait_seconds": 10.0, **more})
    return Engine(Runners.in_threads(Catalog.of({"0": model})), bounds)


def ask(engine: Engine, text: str, client: Client = NOBODY) -> asyncio.Task[Any]:
    """Send a text as a client."""

    async def run() -> Any:
        asking.set(client)
        return await engine.run(job(text))

    return asyncio.create_task(run())


async def begun(model: Slow) -> None:
    await asyncio.to_thread(model.started.wait, 10)
    model.started.clear()
