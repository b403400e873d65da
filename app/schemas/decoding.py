"""How a request wants its text written; `model.adapters.requests.request.Decode` defines it."""

from app.http.fields import Strict
from app.http.from_dataclass import fields_of
from model.adapters.requests.request import Decode


@fields_of(Decode)
class DecodeOptions(Strict):
    """How to write a target if none is given."""


def decode_of(options: DecodeOptions) -> Decode:
    """Convert the options to a `Decode`."""
    return Decode(**options.model_dump())
