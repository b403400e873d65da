"""The Transformer of "Attention Is All You Need", and the trace of what happens inside it.

from model import load

trace = load("en-zh").trace("Hello")
"""

from model.adapters import load
from model.errors import InputError
from model.intervene import Intervention
from model.request import Adapter, Decode, Request, Trace
from model.trace import NamedTensor

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
