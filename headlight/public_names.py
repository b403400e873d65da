"""What `headlight` offers: `headlight.show` is `show` here."""

from typing import Any

from headlight.array_tokens import Grid
from headlight.arrays import given
from headlight.display import Shown, show
from headlight.explanations import contrast, integrated_gradients, occlude, patch, sweep, token_id
from headlight.figure_notices import AttentionWarning
from headlight.files import as_json, describe, export, save
from headlight.models import load, record, wrap
from headlight.serving import Serving, serve
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
    "AttentionWarning",
    "Decode",
    "Grid",
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
    "as_json",
    "contrast",
    "describe",
    "export",
    "given",
    "integrated_gradients",
    "load",
    "occlude",
    "patch",
    "record",
    "save",
    "serve",
    "show",
    "sweep",
    "token_id",
    "wrap",
]


def __getattr__(name: str) -> Any:
    """Import `Widget` when it is first used: it needs the extra `notebook`."""
    if name == "Widget":
        from headlight.widget import Widget

        return Widget
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
