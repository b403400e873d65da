"""A model that takes its time, so that tests can see what happens meanwhile."""

import threading
from collections.abc import Sequence

from model.errors import InputError
from model.request import Adapter, ModelInfo, Output, Request, Trace
from model.trace import NamedTensor


class Slow(Adapter):
    """A model that waits for `go`, echoes the source and keeps the batches that it was given."""

    info = ModelInfo("slow", "Slow", "decoder", {}, {}, 1, 1, 1, (), 1, "0", "")

    def __init__(self) -> None:
        self.go = threading.Event()
        self.started = threading.Event()
        self.batches: list[list[str]] = []

    def check(self, request: Request) -> None:
        if not request.source:
            raise InputError("empty-text", "source", "source has no text in it")

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        self.batches.append([request.source for request in requests])
        self.started.set()
        assert self.go.wait(10)
        if any(request.source == "poison" for request in requests):
            raise RuntimeError("poison")
        return [
            Trace(self, request, "en-zh", (), (), Output(request.source, (), (), 0.0, True), {})
            for request in requests
        ]

    def parameters(self, select: Sequence[str]) -> dict[str, NamedTensor]:
        raise NotImplementedError
