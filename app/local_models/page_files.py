"""What a page loads to run a model by itself: ONNX Runtime, a tokenizer, the worker, descriptions.

The libraries are npm packages, installed by the lock and never committed.
"""

import json
import re
from collections.abc import Set
from pathlib import Path
from typing import Any

from app import __version__
from app.assets import bundles
from app.settings import ROOT
from app.traces.replies import ListedModelReply

MODULES = ROOT / "node_modules"
RUNTIME = MODULES / "onnxruntime-web/dist"
TOKENIZERS = MODULES / "@huggingface/tokenizers/dist"
LIBRARIES = {
    "ort.wasm.min.mjs": RUNTIME,
    "ort-wasm-simd-threaded.mjs": RUNTIME,
    "tokenizers.min.mjs": TOKENIZERS,
}
WHOLE_RUNTIME = RUNTIME / "ort.wasm.bundle.min.mjs"  # the first two libraries in one file
WASM = RUNTIME / "ort-wasm-simd-threaded.wasm"
RUNTIME_FILE = "ort-wasm.bin"
LICENSED = ("onnxruntime-web", "@huggingface/tokenizers")
WORKER = """\
import * as ort from "./ort.wasm.min.mjs";
import * as tokenizers from "./tokenizers.min.mjs";
Object.assign(globalThis, { ort, tokenizers });
"""
EXPORTS = re.compile(r"export\{([^{}]*)\};?\s*(?:/[/*][^\n]*\s*)*\Z")  # the last statement
# What a page can do by itself; it offers nothing else.
# "worksheet" is of the hidden units; worksheets need parameters, so that view is left out.
CAPABILITIES = {"decode", "score", "candidates", "sweep", "alignment", "mean", "worksheet"}


def missing_file() -> Path | None:
    """Return a file that is not installed; None if a page has all that it loads."""
    needed = (WASM, WHOLE_RUNTIME, *(folder / name for name, folder in LIBRARIES.items()))
    return next((file for file in needed if not file.is_file()), None)


def described(info: Any, more: Set[str] = frozenset()) -> dict[str, Any]:
    """Return the description of a model, with what a page can do by itself, and `more`."""
    description = ListedModelReply.model_validate(info).model_dump(mode="json")
    able = [name for name in description["capabilities"] if name in CAPABILITIES | more]
    return {**description, "capabilities": able, "missing": {}, "card": ""}


def licences() -> str:
    """Return the licences of the page and of the libraries."""
    texts = [f"Headlight {__version__}\n\n{(ROOT / 'LICENSE').read_text()}"]
    for name in LICENSED:
        package = json.loads((MODULES / name / "package.json").read_text())
        shipped = [*(MODULES / name).glob("LICENSE*"), ROOT / f"deploy/licenses/{name}.txt"]
        text = next(file.read_text() for file in shipped if file.is_file())
        texts.append(f"{name} {package['version']} ({package['license']})\n\n{text}")
    return ("\n" + "=" * 78 + "\n\n").join(texts)


def worker_script() -> str:
    """Return the worker that runs the model; it imports the libraries beside it."""
    return WORKER + bundles.script("model-worker")


def whole_worker_script() -> str:
    """Return the same with the libraries in it, for a page in one file.

    It is no module: browsers load none that a page from a disk has made.
    """
    tokenizers = TOKENIZERS / "tokenizers.min.mjs"
    libraries = [as_global(WHOLE_RUNTIME, "ort"), as_global(tokenizers, "tokenizers")]
    return "\n".join(['"use strict";', *libraries, bundles.script("model-worker")])


def as_global(module: Path, name: str) -> str:
    """Return a module as a worker's script that makes what it exports global under a name.

    Raises `ValueError` if it does not end in its only export.
    """
    code = module.read_text()
    exports = EXPORTS.search(code)
    if exports is None:
        raise ValueError(f"{module} does not end in what it exports")
    names = [part.strip().split(" as ") for part in exports[1].split(",")]
    members = ",".join(f'"{pair[-1]}":{pair[0]}' for pair in names)
    code = code[: exports.start()].replace("import.meta.url", "self.location.href")
    return f"(() => {{{code}\nglobalThis.{name}={{{members}}};}})();"
