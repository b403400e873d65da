"""A bundle as a folder that a page runs: graphs, weights, tokenizer, card, and what they are.

encoder.onnx         the graphs of `model.web.graphs`
decoder.onnx
self-patterns.onnx   what the heads of an attention do, by `model.web.derived_graphs`
cross-patterns.onnx
weights.safetensors  the bundle's own files
tokenizer.json
config.json
README.md            the model card
SHA256SUMS           digests of the three files that make the bundle's own digest
nearest.onnx, inside.onnx   what is computed from a run, by `model.web.derived_graphs`
graphs.json          the digest, how text is folded, the inputs and outputs of both graphs
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx

from model.adapters.encoder_decoder.description import stream_of
from model.bundle.measurements import means_of
from model.bundle.weights import (
    CARD,
    CONFIG,
    MAX_PAGE_BYTES,
    SUMS,
    TOKENIZER,
    WEIGHTS,
    load_bundle,
)
from model.errors import FileError
from model.text.writing_systems import SCRIPTS, Detector, conversions, simplifications
from model.transformer.config import ModelConfig
from model.web.derived_graphs import derived_graphs, write_derived, write_patterns
from model.web.graphs import ChangeInput, Graph, TextInput, graphs_of
from model.web.onnx_file import onnx_of

GRAPHS = "graphs.json"
LONG_ESCAPE = re.compile(r"\\U0*([0-9a-f]+)")  # of Python; JavaScript has braces
FORMAT = 1  # of graphs.json


def export_for_web(bundle_folder: Path, into: Path, id_: str | None = None) -> Iterator[Path]:
    """Write the folder of a bundle; yield each file that was written.

    `id_` is the model's id in replies; if absent, the folder's name.

    Raises `FileError` for a bundle that cannot be read, or whose weights are too large for a page.
    """
    bundle = load_bundle(bundle_folder)
    size = (bundle_folder / WEIGHTS).stat().st_size
    if size > MAX_PAGE_BYTES:
        raise FileError(
            bundle_folder / WEIGHTS,
            f"it has {size:,} bytes; a page loads at most {MAX_PAGE_BYTES:,}. Store the weights "
            "in half precision, or serve this model instead",
        )
    into.mkdir(parents=True, exist_ok=True)
    for name in (WEIGHTS, TOKENIZER, CONFIG, SUMS, CARD):
        if (bundle_folder / name).is_file():
            yield Path(shutil.copyfile(bundle_folder / name, into / name))
    graphs = graphs_of(bundle.model)
    for graph in graphs:
        file = into / f"{graph.name}.onnx"
        onnx.save(onnx_of(graph, into / WEIGHTS), file)
        onnx.checker.check_model(str(file))
        yield file
    pattern_files, patterns = write_patterns(into)
    yield from pattern_files
    derived = {}
    stream = stream_of(bundle.model.requires_grad_(False))
    for file, part in write_derived(
        derived_graphs(bundle.model, stream, graphs[-1]), into, into / WEIGHTS
    ):
        derived[file.stem] = part
        yield file
    described = {
        "format": FORMAT,
        "id": id_ or bundle_folder.name,
        "digest": bundle.digest,
        **_sizes(bundle.model.config),
        "means": {
            name: mean.flatten().tolist() for name, mean in means_of(bundle_folder, bundle).items()
        },
        "text": _text_rules(bundle.detector),
        "directions": bundle.directions,
        "graphs": {graph.name: _described(graph) for graph in graphs},
        "patterns": patterns,
        "derived": derived,
    }
    (into / GRAPHS).write_text(
        json.dumps(described, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8"
    )
    yield into / GRAPHS


def _described(graph: Graph) -> dict[str, Any]:
    inputs = {given.name: given.tensor() for given in graph.inputs}
    return {
        "texts": [_text(given) for given in graph.texts],
        "changes": [_change(given) for given in graph.changes],
        "outputs": [
            {"name": output.name, "dims": output.dims, "over": dict(output.over)}
            for output in graph.outputs(inputs)
        ],
    }


def _sizes(config: ModelConfig) -> dict[str, Any]:
    channels = {stack: config.d_model // heads for stack, heads in config.heads_of.items()}
    return {
        "max_tokens": config.max_tokens,
        "heads": config.heads_of,
        "widths": {"channel": channels, "feature": config.d_model, "hidden": config.d_ff},
    }


def _text_rules(detector: Detector) -> dict[str, Any]:
    """Return what a page needs to fold a text and to detect its language."""
    return {
        "simplified": simplifications(),
        "converted": {
            before: after
            for before, after in conversions().items()
            if before not in simplifications()
        },
        "scripts": {
            script: LONG_ESCAPE.sub(r"\\u{\1}", pattern.pattern)
            for script, pattern in SCRIPTS.items()
        },
        "languages": {language: detector.script(language) for language in detector.languages},
    }


def _text(given: TextInput) -> dict[str, Any]:
    return {
        "name": given.name,
        "axes": given.axes,
        "dtype": str(given.dtype).removeprefix("torch."),
    }


def _change(given: ChangeInput) -> dict[str, Any]:
    return {
        "name": given.name,
        "dims": given.dims,
        "layers": given.layers,
        "neutral": given.neutral,
    }
