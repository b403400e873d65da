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
from headlight.why import contrast, integrated_gradients, occlude, patch, sweep, token_id
from model import (
    Adapter,
    Decode,
    InputError,
    Intervention,
    NamedTensor,
    Patch,
    Receiver,
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
    "Patch",
    "Receiver",
    "Record",
    "Request",
    "Serving",
    "Shown",
    "Trace",
    "contrast",
    "given",
    "integrated_gradients",
    "load",
    "occlude",
    "patch",
    "record",
    "serve",
    "show",
    "sweep",
    "token_id",
    "wrap",
]
