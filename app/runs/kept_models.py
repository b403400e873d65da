"""The training history of a kept model, made from the snapshots of its run.

Models kept from training runs: bundles in the data folder, served like any other model.
"""

import asyncio
import hmac
import shutil
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import torch

from app.engine.model_catalog import KEPT
from app.engine.model_listing import Listing
from app.engine.reply_formats import Reply
from app.http.limits import Shared
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import repeat, running
from app.runs.training_run import Run
from app.settings import Settings
from app.store.documents import digest_of, new_edit_key, new_id
from app.store.storage_errors import files
from app.store.store import Store
from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.adapters.requests.adapter_interface import Adapter
from model.bundle import measurements as stored
from model.bundle import weights as bundles
from model.bundle.measurements import LEARNING, Learning, SnapshotScores, WatchedSentence
from model.live_training.options_and_events import keep, trace_path
from model.text.tokens import Token
from model.zoo.registry import DIRECTION

WEIGHTS = ".weights"


def history(run: Run, last: int, digest: str) -> Learning:
    """Return the history of a run up to step `last`, with its probes as the watched sentences.

    `digest` is the digest of the bundle that holds the last snapshot. Blocks; raises
    `FileNotFoundError` if a snapshot's file is missing.
    """
    snapshots = [
        probe_written for step, probe_written in sorted([*run.snapshots.items()]) if step <= last
    ]
    probes = run.begun["probes"] if run.begun else []
    weights: dict[str, torch.Tensor] = {}
    examples = []
    for probe, probe_written in enumerate(probes):
        document: dict[str, Any] = {}
        for snapshot in snapshots:
            step = snapshot["step"]
            reply = Reply.parse(trace_path(run.folder, step, probe).read_bytes())
            document = reply.document
            for name, array in reply.arrays.items():
                if name.endswith(WEIGHTS):
                    # In steps of 1/255, like all stored histories.
                    scaled = np.rint(array.astype(np.float32) * 255).astype(np.uint8)
                    weights[f"{probe}.{step}.{name}"] = torch.from_numpy(scaled)
        written = [snapshot["written"][probe] for snapshot in snapshots]
        examples.append(_watched(probe_written["source"], document, written))
    scores = [
        SnapshotScores(snapshot["step"], snapshot["loss"], {}, snapshot["accuracy"])
        for snapshot in snapshots
    ]
    return Learning(digest, scores, examples, weights)


def _watched(source: str, document: Mapping[str, Any], written: list[str]) -> WatchedSentence:
    tokens = {text: [Token(**token) for token in read] for text, read in document["tokens"].items()}
    answer = [Token(**token) for token in document["output"]["tokens"]]
    return WatchedSentence(source, DIRECTION, tokens, answer, written)


RETRY_SECONDS = 600
SWEEP_SECONDS = 3600.0  # between two deletions of what has expired
DAY = 86_400.0
KEY = "key.sha256"  # a file: the digest of the key that deletes the model
OWNER = "owner"  # a file: the keyed digest of the address that kept it


class KeptModels:
    """Adds models to the folder and to the served models, and deletes them from both.

    At most `max_models` are kept, each for `days`; `keyed` returns what of an address is stored.
    """

    def __init__(
        self,
        folder: Path,
        max_models: int,
        days: float,
        listing: Listing,
        keyed: Callable[[str], str] = str,
    ) -> None:
        self.folder, self.most, self.days, self.listing = folder, max_models, days, listing
        self._keyed = keyed
        self._folders: set[str] = {path.name for path in folder.glob(KEPT)}
        self._one_at_a_time = asyncio.Lock()

    async def add(self, write: Callable[[Path], None], address: str) -> tuple[str, str]:
        """Add the model that `write` writes into a folder; return its id and its key.

        If anything fails, nothing is added. Raises a 507 ProblemError if `max_models` models are
        kept, or if `address` has its share of them, and StorageError.
        """
        async with self._one_at_a_time:
            await self._prune()
            model_id, key = KEPT.replace("*", new_id()[:8]), new_edit_key()
            owner = self._keyed(address)
            with files():
                adapter = await asyncio.to_thread(self._add, model_id, key, owner, write)
        self.listing.add(model_id, adapter.info, tuple(adapter.names))
        return model_id, key

    async def delete(self, model_id: str, key: str) -> None:
        """Delete a kept model, given its key; shares of it stay.

        Raises a 404 ProblemError if the model is not served, a 403 one if the key is wrong or the
        model was not kept from a run.
        """
        async with self._one_at_a_time:
            if model_id not in {*self.listing, *self.listing.unopened}:
                raise ProblemError(
                    404, "unknown-model", "this model is not served here", field="id"
                )
            await asyncio.to_thread(self._check_key, model_id, key)
            self.listing.remove(model_id)
            await asyncio.to_thread(self._delete, model_id)

    async def keep_pruning(self, seconds: float = SWEEP_SECONDS) -> None:
        """Delete models that have expired, until cancelled."""
        await repeat(self._prune_alone, seconds)

    async def _prune_alone(self) -> None:
        async with self._one_at_a_time:
            await self._prune()

    async def _prune(self) -> None:
        """Delete what has expired; list no model whose folder another server has deleted."""
        for path in await asyncio.to_thread(self._expired):
            await asyncio.to_thread(self._delete, path.name)
        before, self._folders = self._folders, {path.name for path in self.folder.glob(KEPT)}
        for name in (before - self._folders) & {*self.listing, *self.listing.unopened}:
            self.listing.remove(name)

    def _expired(self) -> list[Path]:
        oldest, keys = time.time() - self.days * DAY, self.folder.glob(f"{KEPT}/{KEY}")
        return [path.parent for path in keys if path.stat().st_mtime < oldest]

    def _check_key(self, model_id: str, key: str) -> None:
        path = self.folder / model_id / KEY
        digest = path.read_text() if fnmatchcase(model_id, KEPT) and path.is_file() else ""
        if not hmac.compare_digest(digest, digest_of(key.strip().lower().encode()).hex()):
            detail = "Model-Key is not the key of this model"
            raise ProblemError(403, "wrong-model-key", detail, field="Model-Key")

    def _delete(self, model_id: str) -> None:
        """Rename the folder first, so that no server opens a partly deleted model."""
        gone = self.folder / f"gone-{model_id}"
        with suppress(FileNotFoundError):  # another server was first
            (self.folder / model_id).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    def _add(self, model_id: str, key: str, owner: str, write: Callable[[Path], None]) -> Adapter:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        holders = [_owner(path) for path in self.folder.glob(KEPT)]
        if detail := Shared(self.most, "kept models").refusal(holders, owner):
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise ProblemError(507, "models-full", detail, headers=headers)
        half = self.folder / f"half-{model_id}"
        try:
            write(half)
            (half / KEY).write_text(digest_of(key.encode()).hex())
            (half / OWNER).write_text(owner)
            half.rename(self.folder / model_id)
            return load(self.folder / model_id, "cpu", model_id)
        except BaseException:
            self._delete(model_id)
            raise
        finally:
            shutil.rmtree(half, ignore_errors=True)


@asynccontextmanager
async def open_kept_models(services: Services) -> AsyncIterator[None]:
    """Open the models kept from training runs; those that expire are deleted."""
    settings, folder = services[Settings], services[Settings].data_dir / "kept"
    max_models, days = settings.max_kept_models, settings.keep_models_days
    kept_models = KeptModels(folder, max_models, days, services[Listing], services[Store].owner)
    services.add(kept_models)
    async with running(kept_models.keep_pruning()):
        yield


def _owner(folder: Path) -> str:
    try:
        return (folder / OWNER).read_text()
    except OSError:
        return ""  # kept by an earlier version


def write_model(run: Run, step: int, bundle: Path) -> None:
    """Write the snapshot of a run at `step` as a bundle, with its history and a card."""
    options, right = run.options, run.snapshots[step]["accuracy"]
    heads = f"{options.heads} head{'s' if options.heads > 1 else ''}"
    name = f"{options.task}, {options.positions}, {heads}, step {step}"
    changed = "\n".join(f"- {key}: {value}" for key, value in vars(options).items())
    card = (
        f"# {name}\n\nA small model that a visitor trained on the page `/train` of this server. At "
        f"step {step}, {right:.0%} of the held-out answers were right.\n\n{changed}\n"
    )
    keep(run.folder, step, options, name, card, bundle)
    learned = history(run, step, bundles.digest_of(bundle))
    stored.save(learned, bundle / LEARNING)
