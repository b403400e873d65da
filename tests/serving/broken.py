"""`python -m tests.serving.broken`: a server whose model's errors repeat its input."""

import sys
from collections.abc import Sequence

from app.engine.model_catalog import Catalog
from app.server import serve
from app.settings import Settings
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Decoding, Trace
from tests.serving.slow import Slow


class Broken(Slow):
    """A model whose every method fails."""

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        raise RuntimeError(f"cannot read {requests[0].source}")

    def write(self, request: Request) -> Decoding:
        raise KeyError(request.source)


if __name__ == "__main__":
    sys.exit(serve(Settings(), Catalog.of({"broken": Broken()})))
