"""What is known of the heads of each model over many sentences: its survey, and its index.

A model's survey is in its bundle, and an index of the sentences that ship with Headlight in the
bundle's folder `corpus`. For a model that HEADLIGHT_CORPORA names, both come from that folder.
"""

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from cachetools import LRUCache

from app.assets.pages import PageFacts
from app.engine.model_listing import Listing
from app.http.services import Services
from app.settings import Settings
from model.bundle.weights import CHECKPOINTS
from model.corpus.index import INDEX, Index, read_survey
from model.errors import FileError

OPENED = 32  # indexes of readers' texts
SHIPPED = "corpus"  # the folder of a bundle with an index

log = logging.getLogger(__name__)


class Corpora:
    """Opens the files when they are first requested; those of other weights do not count."""

    def __init__(self, settings: Settings, catalog: Listing) -> None:
        self._catalog = catalog
        self._named = {name: Path(path) for name, path in settings.corpus_folders.items()}
        self._bundles = {name: _bundle(path) for name, path in settings.bundles.items()}
        self._surveys: dict[str, dict[str, Any] | None] = {}
        self._indexes: dict[str, Index | None] = {}
        self._opened: LRUCache[Path, Index] = LRUCache(OPENED)

    def check(self) -> None:
        """Raise `ValueError` if a named folder has no survey or index of the model's weights."""
        for name, folder in self._named.items():
            if name in self._catalog.unopened:
                continue
            if name not in self._catalog:
                raise ValueError(f"HEADLIGHT_CORPORA names a model that is not served: {name}")
            if self.survey(name) is None or self.index(name) is None:
                raise ValueError(
                    f"{folder} has no index of this model: run `measure corpus --index` again"
                )

    @property
    def surveyed(self) -> str | None:
        """The first served model whose heads have been measured."""
        return next((name for name in self._catalog if self.survey(name)), None)

    def survey(self, name: str) -> dict[str, Any] | None:
        """Return what each head of a served model does; None if it was not measured."""
        if name not in self._surveys:
            self._surveys[name] = None
            folder = self._named.get(name) or self._bundles.get(name)
            digest = self._catalog[name].digest
            with self._optional(name):
                self._surveys[name] = read_survey(folder, digest) if folder else None
        return self._surveys[name]

    def index(self, name: str) -> Index | None:
        """Return the index of a served model's sentences; None if there is none."""
        if name not in self._indexes:
            self._indexes[name] = None
            bundle = self._bundles.get(name)
            folder = self._named.get(name) or (bundle and bundle / SHIPPED)
            there = folder is not None and (folder / INDEX).is_file()
            with self._optional(name):
                index = Index(folder) if folder and there else None
                same = index is not None and index.digest == self._catalog[name].digest
                self._indexes[name] = index if same else None
        return self._indexes[name]

    @contextmanager
    def _optional(self, name: str) -> Iterator[None]:
        """Log damage in what is beside a bundle, which is served without it; else raise it."""
        try:
            yield
        except FileError as error:
            if name in self._named:
                raise
            log.error("%s", error)

    def opened(self, folder: Path) -> Index:
        """Return the index of a reader's text."""
        if folder not in self._opened:
            self._opened[folder] = Index(folder)
        return self._opened[folder]


@asynccontextmanager
async def open_corpora(services: Services) -> AsyncIterator[None]:
    """Open what is known of the heads. Raises what `Corpora.check` raises."""
    corpora = Corpora(services[Settings], services[Listing])
    corpora.check()
    services[PageFacts].add("surveyed", lambda: corpora.surveyed)
    services.add(corpora)
    yield


def _bundle(path: str) -> Path:
    shipped = CHECKPOINTS / path
    return shipped if shipped.is_dir() else Path(path)
