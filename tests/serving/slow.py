"""A slow model, so that tests can see what happens in the meantime."""

import threading
from collections.abc import Iterator, Sequence

import torch

from model.adapters.encoder_decoder.description import attentions
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Decoding, Output, Trace
from model.decode.decoding_steps import Branch, Hypothesis, SearchStep
from model.errors import InputError
from model.text.tokens import Token
from model.trace.tensor_tap import NamedTensor


class Slow(Adapter):
    """A model that waits for `go`, echoes the source and records its batches.

    Its decoding never ends; it counts the steps.
    """

    info = ModelInfo(
        "slow",
        "Slow",
        "encoder-decoder",
        tuple(attentions(1, 1, 1)),
        1,
        1,
        1,
        (),
        1,
        "0",
        "",
        capabilities=frozenset({"decode"}),
    )

    names = ()

    def __init__(self) -> None:
        self.go = threading.Event()
        self.started = threading.Event()
        self.batches: list[list[str]] = []
        self.steps = 0

    def validate(self, request: Request) -> None:
        if not request.source:
            raise InputError("empty-text", "source", "source is empty")

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        self.batches.append([request.source for request in requests])
        self.started.set()
        assert self.go.wait(10)
        if any(request.source == "poison" for request in requests):
            raise RuntimeError("poison")
        return [
            Trace(
                self.info,
                request,
                {"source": (), "target": ()},
                {},
                Output(request.source, (), (), (), 0, True),
                "en-zh",
            )
            for request in requests
        ]

    def write(self, request: Request) -> Decoding:
        return Decoding(self.info, request, {"source": ()}, self._steps(request.source), "en-zh")

    def _steps(self, source: str) -> Iterator[SearchStep]:
        written = Hypothesis()
        while True:
            self.started.set()
            assert self.go.wait(10)
            if source == "poison" and self.steps == 2:
                raise RuntimeError("poison")
            self.steps += 1
            read, written = written, written.then(0, -1.0, finished=False)
            yield SearchStep((read,), torch.zeros(1, 2), (Branch(0, written),), (written,))

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        return "a" * len(ids), tuple(self.token(id_) for id_ in ids)

    def token(self, id_: int, *, first: bool = False) -> Token:
        return Token("a", id_, 0, 0, special=False)

    def matrices(self, select: Sequence[str]) -> dict[str, NamedTensor]:
        raise NotImplementedError
