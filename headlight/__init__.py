"""Headlight in a script or a notebook, without a server.

import headlight

model = headlight.load("en-zh")
trace = model.trace("Hello")
headlight.show(model, "Hello")

headlight.show(model, tokenizer, "Hello")  # of `transformers`
with headlight.record(model) as record:
    model(**batch)
record["decoder.0.self.weights"]
"""

from headlight.arrays import given
from headlight.display import Shown, show
from headlight.models import load, record, wrap
from headlight.serving import Serving, serve
from model import (
    Adapter,
    Decode,
    InputError,
    Intervention,
    NamedTensor,
    Request,
    Trace,
)
from model.trace.record import Record

__all__ = [
    "Adapter",
    "Decode",
    "InputError",
    "Intervention",
    "NamedTensor",
    "Record",
    "Request",
    "Serving",
    "Shown",
    "Trace",
    "given",
    "load",
    "record",
    "serve",
    "show",
    "wrap",
]
