"""A model's parameters, as a reply."""

from dataclasses import dataclass

from app.engine.jobs import Encoded, Encoding, ReplyJob
from app.engine.wire import parameters_reply
from model.adapters.requests.adapter import Adapter
from model.adapters.requests.model_info import ModelInfo

PRICE = 2_000.0  # writing millions of numbers takes as long as some traces


@dataclass(frozen=True)
class ParametersJob(ReplyJob):
    """Parameters that match patterns, in a format. `digest` is the model's."""

    digest: str
    select: tuple[str, ...]
    encoding: Encoding

    def alone(self, adapter: Adapter) -> Encoded:
        """Return the reply. Raises InputError for a pattern that matches nothing."""
        return self.encoding(parameters_reply(self.model, adapter.parameters(self.select)))

    def price(self, info: ModelInfo) -> float:
        """Return the cost, which is the same for all requests."""
        return PRICE
