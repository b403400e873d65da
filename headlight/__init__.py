"""Headlight in a script or a notebook, without a server.

import headlight

model = headlight.load("en-zh")
trace = model.trace("Hello")
headlight.show(model, "Hello")
"""

from headlight.arrays import given
from headlight.display import Shown, show
from headlight.serving import Serving, serve
from model import (
    Adapter,
    Decode,
    InputError,
    Intervention,
    NamedTensor,
    Request,
    Trace,
    load,
)

__all__ = [
    "Adapter",
    "Decode",
    "InputError",
    "Intervention",
    "NamedTensor",
    "Request",
    "Serving",
    "Shown",
    "Trace",
    "given",
    "load",
    "serve",
    "show",
]
