"""Models kept from training runs: bundles in the data folder, served like any other model."""

import asyncio
import hmac
import shutil
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path

from app.engine.catalog import KEPT
from app.engine.model_listing import Listing
from app.http.problems import ProblemError
from app.runs.kept_history import history
from app.runs.run import Run
from app.store.content_by_digest import digest_of
from app.store.ids import new_edit_key, new_id
from model.adapters.encoder_decoder import load
from model.adapters.request import Adapter
from model.bundle import history as stored
from model.bundle import weights as bundles
from model.bundle.measurements import LEARNING
from model.live.snapshots import keep

RETRY_SECONDS = 600
KEY = "key.sha256"  # a file: the digest of the key that deletes the model


class KeptModels:
    """Adds models to the folder and to the served models, and deletes them from both."""

    def __init__(self, folder: Path, most: int, listing: Listing) -> None:
        self.folder, self.most, self.listing = folder, most, listing
        self._one_at_a_time = asyncio.Lock()

    async def add(self, write: Callable[[Path], None]) -> tuple[str, str]:
        """Add the model that `write` writes into a folder; return its id and its key.

        If `write` fails, nothing is added. Raises a 507 ProblemError if `most` models are kept.
        """
        async with self._one_at_a_time:
            model_id, key = KEPT.replace("*", new_id()[:8]), new_edit_key()
            adapter = await asyncio.to_thread(self._add, model_id, key, write)
        self.listing.add(model_id, adapter.info, tuple(adapter.names))
        return model_id, key

    async def delete(self, model_id: str, key: str) -> None:
        """Delete a kept model, given its key; shares of it stay.

        Raises a 404 ProblemError if the model is not served, a 403 one if the key is wrong or the
        model was not kept from a run.
        """
        async with self._one_at_a_time:
            if model_id not in self.listing:
                raise ProblemError(
                    404, "unknown-model", "this model is not served here", field="id"
                )
            await asyncio.to_thread(self._check_key, model_id, key)
            self.listing.remove(model_id)
            await asyncio.to_thread(self._delete, model_id)

    def _check_key(self, model_id: str, key: str) -> None:
        path = self.folder / model_id / KEY
        known = path.read_text() if fnmatchcase(model_id, KEPT) and path.is_file() else ""
        if not hmac.compare_digest(known, digest_of(key.strip().lower().encode()).hex()):
            detail = "Model-Key is not the key of this model"
            raise ProblemError(403, "wrong-model-key", detail, field="Model-Key")

    def _delete(self, model_id: str) -> None:
        """Rename the folder first, so that no server opens a partly deleted model."""
        gone = self.folder / f"gone-{model_id}"
        (self.folder / model_id).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)

    def _add(self, model_id: str, key: str, write: Callable[[Path], None]) -> Adapter:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if len(list(self.folder.glob(KEPT))) >= self.most:
            detail = f"this server keeps at most {self.most} models; delete one that you kept"
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise ProblemError(507, "models-full", detail, headers=headers)
        half = self.folder / f"half-{model_id}"
        try:
            write(half)
            (half / KEY).write_text(digest_of(key.encode()).hex())
            half.rename(self.folder / model_id)
        finally:
            shutil.rmtree(half, ignore_errors=True)
        return load(self.folder / model_id, "cpu", model_id)


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
