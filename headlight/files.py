"""Numbers and figures in files: `headlight.save(trace, "cat.safetensors")`, `headlight.export`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from app.engine.reply_formats import Reply, trace_reply
from app.figures.sentence_figures import opened
from app.http.file_formats import JSON, NPZ, SAFETENSORS
from app.http.replies import csv_of
from app.traces.replies import ModelReply
from headlight.display import FORMS, show
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.trace import Trace

NUMBERS = {"safetensors": SAFETENSORS, "json": JSON, "npz": NPZ, "csv": ""}
# All axes, in the order of columns; a table has only those that its tensors have.
AXES = (
    *("layer", "head", "station", "query", "key", "query_term", "key_term"),
    *("row", "column", "channel", "feature", "hidden", "rank", "vocab"),
)


def save(trace: Trace, path: str | Path) -> Path:
    """Write the tensors of a trace and what they are of to a file, and return its path.

    The ending says how: .safetensors, .json and .npz are as the API sends them, .csv is a table
    with a row for each number. Raises `ValueError` for another ending.
    """
    file = Path(path)
    form = _form(file, NUMBERS)
    file.write_bytes(numbers_file(trace_reply(trace, "", trace.model.id), form))
    return file


def export(
    model: Any,
    *about: Any,
    folder: str | Path = ".",
    forms: Sequence[str] = ("html",),
    **place: Any,
) -> list[Path]:
    """Write the figure that `show` makes of the same arguments in several forms, by its place.

    `forms` are endings: html, svg, pdf and png for pictures; csv, npz, json and safetensors for
    the numbers of the layer. The files have the names that the page gives to its exports. Returns
    their paths; raises what `show` and `Shown.save` raise.
    """
    for form in forms:
        _form(Path(f"figure.{form}"), (*FORMS, *NUMBERS))
    figure = show(model, *about, **place)
    assert figure.content is not None  # `show` keeps it
    selection = opened(figure.content)
    attention, layer = selection.attention, selection.attention.layer + 1
    model_id = re.sub(r"[^\w.-]+", "-", str(figure.content.about["model"]["id"]))
    name = (
        f"headlight-{model_id}-attention-{attention.block}-layer-{layer}-head-{selection.head + 1}"
    )
    tensors = [f"{attention.place}.{part}" for part in ("weights", "mask")]
    reply = of_tensors(figure.content.trace, tensors)
    Path(folder).mkdir(parents=True, exist_ok=True)
    paths = []
    for form in forms:
        path = Path(folder, f"{name}.{form}")
        if form in FORMS:
            figure.save(path)
        else:
            path.write_bytes(numbers_file(reply, form))
        paths.append(path)
    return paths


def as_json(trace: Trace) -> str:
    """Return the JSON document that the API answers with."""
    return trace_reply(trace, "", trace.model.id).json().decode()


def describe(model: Adapter) -> dict[str, Any]:
    """Return the description of a model as in the API's list of models."""
    return ModelReply.model_validate(model.info).model_dump()


def of_tensors(reply: Reply, names: Sequence[str]) -> Reply:
    """Return a reply with only these of its tensors."""
    recorded = [name for name in names if name in reply.arrays]
    tensors = {name: reply.document["tensors"][name] for name in recorded}
    return Reply(
        {**reply.document, "tensors": tensors}, {name: reply.arrays[name] for name in recorded}
    )


def numbers_file(reply: Reply, form: str) -> bytes:
    """Return tensors and their document in one of the forms of `NUMBERS`."""
    return table(reply).encode() if form == "csv" else reply.write(NUMBERS[form])


def table(reply: Reply) -> str:
    """Return tensors as CSV: a number in each row, its index on every axis, and the tokens."""
    about = reply.document["tensors"]
    axes = [axis for axis in AXES if any(axis in entry["dims"] for entry in about.values())]
    followed = {axis for entry in about.values() for axis in entry["over"]}
    columns = [
        column for axis in axes for column in (axis, *[f"{axis}_token"] * (axis in followed))
    ]
    rows = (row for name in reply.arrays for row in _rows(reply, name, columns))
    return csv_of(["tensor", *columns, "value"], rows)


def _rows(reply: Reply, name: str, columns: Sequence[str]) -> Iterator[list[object]]:
    entry, array = reply.document["tensors"][name], reply.arrays[name]
    if array.dtype == bool:
        array = array.astype(int)
    texts = {
        f"{axis}_token": [token["text"] for token in reply.document["tokens"][text]]
        for axis, text in entry["over"].items()
    }
    for index in product(*map(range, array.shape)):
        place: dict[str, object] = dict(zip(entry["dims"], index, strict=True))
        place |= {
            column: tokens[index[entry["dims"].index(column.removesuffix("_token"))]]
            for column, tokens in texts.items()
        }
        # The shortest digits that are this float32 when read again.
        yield [name, *(place.get(column, "") for column in columns), str(array[index])]


def _form(file: Path, forms: Sequence[str] | dict[str, str]) -> str:
    form = file.suffix.lower().removeprefix(".")
    if form not in forms:
        raise ValueError(f"{file.name} must end in one of: .{', .'.join(forms)}")
    return form
