"""Models that were kept of training runs: folders in the data folder, served like any other."""

import asyncio
import shutil
from collections.abc import Callable
from pathlib import Path

from app.engine.catalog import KEPT
from app.engine.model_listing import Listing
from app.http.problems import ProblemError
from app.runs.run import Run
from app.store.ids import new_id
from model.adapters.encoder_decoder import load
from model.adapters.request import Adapter
from model.live.snapshots import keep

RETRY_SECONDS = 600


class KeptModels:
    """Adds models to the folder and to what is served."""

    def __init__(self, folder: Path, most: int, listing: Listing) -> None:
        self.folder, self.most, self.listing = folder, most, listing
        self._one_at_a_time = asyncio.Lock()

    async def add(self, write: Callable[[Path], None]) -> str:
        """A model that `write` writes into a folder, whole or not at all; its id.

        Raises a 507 ProblemError where there is no room.
        """
        async with self._one_at_a_time:
            model_id = KEPT.replace("*", new_id()[:8])
            adapter = await asyncio.to_thread(self._add, model_id, write)
        self.listing.add(model_id, adapter.info, tuple(adapter.names))
        return model_id

    def _add(self, model_id: str, write: Callable[[Path], None]) -> Adapter:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if len(list(self.folder.glob(KEPT))) >= self.most:
            detail = f"at most {self.most} models are kept; delete one from the data folder"
            headers = {"Retry-After": str(RETRY_SECONDS)}
            raise ProblemError(507, "models-full", detail, headers=headers)
        half = self.folder / f"half-{model_id}"
        try:
            write(half)
            half.rename(self.folder / model_id)
        finally:
            shutil.rmtree(half, ignore_errors=True)
        return load(self.folder / model_id, "cpu", model_id)


def write_model(run: Run, step: int, bundle: Path) -> None:
    """Writes the snapshot of a run as a bundle, with a card that says what it is."""
    options, right = run.options, run.snapshots[step]["accuracy"]
    heads = f"{options.heads} head{'s' if options.heads > 1 else ''}"
    name = f"{options.task}, {options.positions}, {heads}, step {step}"
    changed = "\n".join(f"- {key}: {value}" for key, value in vars(options).items())
    card = (
        f"# {name}\n\nA small model that somebody trained on the page `/train` of this server, at "
        f"step {step}: {right:.0%} of the held-out answers were right.\n\n{changed}\n"
    )
    keep(run.folder, step, options, name, card, bundle)
