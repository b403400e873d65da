"""The Transformer of "Attention Is All You Need", and the trace of what happens inside it.

from model import load

trace = load("en-zh").trace("Hello")
"""

from model.adapters.native import load
from model.adapters.request import Adapter, Decode, Request, Trace
from model.errors import InputError
from model.trace.interventions import Intervention
from model.trace.tap import NamedTensor

__all__ = [
    "Adapter",
    "Decode",
    "InputError",
    "Intervention",
    "NamedTensor",
    "Request",
    "Trace",
    "load",
]
