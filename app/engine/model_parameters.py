"""A model's parameters, as a reply."""

from dataclasses import dataclass

from app.engine.jobs import AnswerJob, Encoded, Encoding
from app.engine.wire import parameters_reply
from model.adapters.model_info import ModelInfo
from model.adapters.request import Adapter

PRICE = 2_000.0  # writing millions of numbers takes as long as some traces


@dataclass(frozen=True)
class ParametersJob(AnswerJob):
    """Matrices by patterns, in a format. The digest is the model's: the reply depends on it."""

    digest: str
    select: tuple[str, ...]
    encoding: Encoding

    def alone(self, adapter: Adapter) -> Encoded:
        """Return the reply; raises InputError for a pattern that matches nothing."""
        return self.encoding(parameters_reply(self.model, adapter.parameters(self.select)))

    def price(self, info: ModelInfo) -> float:
        """Return the cost, the same for all."""
        return PRICE
