"""Models that run in a page (docs/site.md): what such a page loads, and models kept exported.

A page loads ONNX Runtime, a tokenizer, the worker and descriptions. The libraries are npm packages,
installed by the lock and never committed. A model is exported once
(docs/site.md#the-exported-model), and kept in the data folder: it still runs in a reader's page
after it has changed or gone here.

Stores them in the data folder, by digest; uses `traces` for the description of a model.
"""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping, Set
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from app import __version__
from app.assets import bundles
from app.assets.templates import PageFacts
from app.engine.model_listing import Listing
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.settings import ROOT, Settings
from app.store.disk_files import error_of_child, make_private_folder
from app.store.storage_errors import files
from app.traces.replies import ListedModelReply
from model.bundle.weights import CHECKPOINTS, MAX_PAGE_BYTES, WEIGHTS, digest_of

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


FOLDER = "exported"  # in the data folder

KIND = "encoder-decoder"  # the models that can be exported

LAST_FILE = "graphs.json"  # with it an exported model is complete

EXPORTER = ("onnx", "onnxscript")

NICE = 10

# A handout with its model, measured: the weights compress to 84.5 %, ONNX Runtime and what is small
# to 3.8 MB, and text takes 1.25 times as much; the page and its figure take 0.6 MB.
COMPRESSED, BESIDE, AS_TEXT, PAGE = 0.845, 3_800_000, 1.25, 600_000


@dataclass
class ExportedModels:
    """The models that are exported, or that can be: `bundles` by digest."""

    root: Path
    bundles: Mapping[str, Path]
    exporting: dict[str, asyncio.Task[None]] = field(default_factory=dict)

    def folder(self, digest: str) -> Path | None:
        """Return the folder of an exported model; None if there is none."""
        folder = self.root / digest
        return folder if digest.isalnum() and (folder / LAST_FILE).is_file() else None

    def handouts(self) -> dict[str, dict[str, int | bool]]:
        """Return the models that run in a handout, by digest.

        `bytes` is the size of a handout; a model that is not yet `exported` takes minutes.
        """
        exported = {file.parent.name: file.parent for file in self.root.glob(f"*/{LAST_FILE}")}
        folders = {**self.bundles, **exported}
        return {
            digest: {"bytes": handout_bytes(folder), "exported": digest in exported}
            for digest, folder in folders.items()
        }

    async def export(self, digest: str) -> Path:
        """Return the folder of a model, which is exported now if it is not yet.

        Raises a 422 ProblemError for one that cannot be, and StorageError if it cannot be written;
        then nothing of it is kept.
        """
        if not (self.folder(digest) or digest in self.bundles):
            detail = "runs: this model cannot be exported here, so it runs in no handout"
            raise ProblemError(422, "unsupported", detail, field="runs")
        if not self.folder(digest):
            if digest not in self.exporting:
                task = asyncio.create_task(self._export(digest))
                self.exporting[digest] = task
                task.add_done_callback(lambda _: self.exporting.pop(digest))
            # Another request may wait for it too, and so will the next one.
            await asyncio.shield(self.exporting[digest])
        return self.root / digest

    async def _export(self, digest: str) -> None:
        with files():
            make_private_folder(self.root)
            with TemporaryDirectory(dir=self.root, prefix=".") as temporary:
                folder = Path(temporary) / digest
                await _export_into(folder, self.bundles[digest])
                try:
                    folder.rename(self.root / digest)
                except OSError:
                    if not self.folder(digest):  # another server has not put it there
                        raise

    async def close(self) -> None:
        """End what is being exported."""
        tasks = [*self.exporting.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _export_into(folder: Path, bundle: Path) -> None:
    """Export a bundle in a process of its own. Raises OSError if that cannot write its files."""
    command = ["-m", "model", "export-web", str(bundle), "--into", str(folder)]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, *command),
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        with suppress(OSError):  # it has ended already
            os.setpriority(os.PRIO_PROCESS, process.pid, NICE)
        _, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        written = errors.decode(errors="replace")
        why = RuntimeError(f"export-web failed: {written[-500:]}")
        raise error_of_child(written) or why


def handout_bytes(folder: Path) -> int:
    """Return about how many bytes a handout with the model of a folder has."""
    weights = (folder / WEIGHTS).stat().st_size
    return round(AS_TEXT * (COMPRESSED * weights + BESIDE)) + PAGE


@asynccontextmanager
async def open_exported_models(services: Services) -> AsyncIterator[None]:
    """Find the models that can be exported, and tell pages which of them run in a handout."""
    settings = services[Settings]
    can_export = missing_file() is None and all(map(find_spec, EXPORTER))
    bundles = _bundles(settings, services[Listing]) if can_export else {}
    exported = ExportedModels(settings.data_dir / FOLDER, bundles)
    services.add(exported)
    services[PageFacts].add("living", exported.handouts)
    yield
    await exported.close()


def _bundles(settings: Settings, listing: Listing) -> dict[str, Path]:
    """Return the folders of models that a page can run, by digest: shipped and served ones.

    Shares may be of a shipped model that is not served any more.
    """
    bundles = dict(_shipped())
    for name, path in settings.bundles.items():
        shipped = CHECKPOINTS / path
        folder = shipped if shipped.is_dir() else Path(path)
        if name in listing and listing.describe(name).kind == KIND and _is_small(folder):
            bundles[listing.describe(name).digest] = folder.resolve()
    return bundles


@cache
def _shipped() -> dict[str, Path]:
    folders = [folder for folder in CHECKPOINTS.iterdir() if _is_small(folder)]
    return {digest_of(folder): folder for folder in folders}


def _is_small(folder: Path) -> bool:
    weights = folder / WEIGHTS
    return weights.is_file() and weights.stat().st_size <= MAX_PAGE_BYTES
