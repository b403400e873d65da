"""The Transformer of "Attention Is All You Need", and the trace of what happens inside it.

from model import load

trace = load("en-zh").trace("Hello")
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from model.adapters.encoder_decoder.encoder_decoder_adapter import load
    from model.adapters.requests.adapter_interface import Adapter
    from model.adapters.requests.request import Decode, Patch, Receiver, Request
    from model.adapters.requests.trace import Trace
    from model.errors import InputError
    from model.trace.interventions import Intervention
    from model.trace.tensor_tap import NamedTensor
else:
    # Imported on first use: torch takes seconds, which `python -m model --help` does not need.
    HOMES = {
        "Adapter": "adapters.requests.adapter_interface",
        "Decode": "adapters.requests.request",
        "InputError": "errors",
        "Intervention": "trace.interventions",
        "NamedTensor": "trace.tensor_tap",
        "Patch": "adapters.requests.request",
        "Receiver": "adapters.requests.request",
        "Request": "adapters.requests.request",
        "Trace": "adapters.requests.trace",
        "load": "adapters.encoder_decoder.encoder_decoder_adapter",
    }

    def __getattr__(name: str) -> Any:
        if name not in HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{__name__}.{HOMES[name]}"), name)


__all__ = [
    "Adapter",
    "Decode",
    "InputError",
    "Intervention",
    "NamedTensor",
    "Patch",
    "Receiver",
    "Request",
    "Trace",
    "load",
]
