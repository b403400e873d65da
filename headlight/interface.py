"""What `headlight` offers: `headlight.show` is `show` here."""

from headlight.array_tokens import Grid
from headlight.arrays import given
from headlight.display import Shown, show
from headlight.files import as_json, describe, export, save
from headlight.models import load, record, wrap
from headlight.notices import AttentionWarning
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
