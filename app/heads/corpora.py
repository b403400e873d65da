"""What is known of the heads of each model over many sentences: its survey, and its index.

A model's survey is in its bundle, and an index of the sentences that ship with Headlight in the
bundle's folder `corpus`. For a model that HEADLIGHT_CORPORA names, both come from that folder.

Texts of readers: added, followed and deleted.
"""

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cachetools import LRUCache

from app.assets.templates import PageFacts
from app.engine.engine import Engine
from app.engine.fair_queue import asking
from app.engine.model_listing import Listing
from app.heads.index_process import check, sentences_of
from app.heads.indexing import Indexing, Kept
from app.heads.schemas import CorpusReply, CorpusRequest
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.settings import Settings
from model.bundle.weights import CHECKPOINTS
from model.corpus.row_index import INDEX, Index, read_survey
from model.errors import Excess, FileError, InputError

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
            has_index = folder is not None and (folder / INDEX).is_file()
            with self._optional(name):
                index = Index(folder) if folder and has_index else None
                is_current = index is not None and index.digest == self._catalog[name].digest
                self._indexes[name] = index if is_current else None
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


START = 100_000.0  # cost of a text, in units of work: its process imports and opens the model
SENTENCE = 200.0  # cost of a sentence: about a second of a core for a hundred


def create(services: Services, body: CorpusRequest) -> tuple[Kept, str]:
    """Add a text to the queue; return it and its key.

    Raises InputError for a text beyond the limits, SpentError, and what `Indexing.start` raises.
    """
    client = asking.get()
    services[Indexing].admit(client)
    settings = services[Settings]
    path = {**settings.zoo_bundles, **settings.bundles}.get(body.model)
    if body.model not in services[Listing] or path is None:
        detail = f"model: {services[Listing].absent(body.model)}"
        raise InputError("unknown-model", "model", detail)
    max_characters = settings.max_corpus_characters
    if len(body.text) > max_characters:
        detail = f"text has {len(body.text)} characters; it may have at most {max_characters}"
        excess = Excess(max_characters, "characters", len(body.text))
        raise InputError("too-many-characters", "text", detail, excess)
    lines = sentences_of(body.text, body.split)
    languages = services[Listing][body.model].languages
    check(lines, settings.max_corpus_sentences, settings.max_text_characters, len(languages) == 2)
    services[Engine].charge(START + SENTENCE * len(lines))
    digest = services[Listing][body.model].digest
    return services[Indexing].start(
        body.model, path, digest, tuple(lines), body.title.strip(), client
    )


def told(corpus: Kept) -> CorpusReply:
    """Return what is known of a text."""
    about, state = corpus.about, corpus.state
    count = state.get("sentences", 0)
    return CorpusReply(
        id=corpus.id,
        model=about["model"],
        title=about["title"],
        given=about["given"],
        state=state["state"],
        done=state.get("done", count),
        of=state.get("of", count),
        why=state.get("why"),
        created=_time(about["created"]),
        expires=_time(corpus.expires),
    )


def of_model(services: Services, name: str, corpus: str) -> Kept:
    """Return a text that is done, of a model. Raises a 404 ProblemError if there is none.

    A text that was indexed with other weights of the model counts as expired.
    """
    text = services[Indexing].find(corpus)
    if text.about["model"] != name or text.about["digest"] != services[Listing][name].digest:
        detail = "corpus: this text was indexed for another model"
        raise ProblemError(404, "unknown-corpus", detail, field="corpus")
    return text


def index(services: Services, name: str, corpus: str) -> Index | None:
    """Return the index of a model's own sentences, or of a reader's text if one is named.

    Raises what `done` raises.
    """
    if not corpus:
        return services[Corpora].index(name)
    return services[Corpora].opened(done(services, name, corpus).folder)


def done(services: Services, name: str, corpus: str) -> Kept:
    """Return a text as `of_model` does. Raises a 404 ProblemError if it is not indexed (yet)."""
    text = of_model(services, name, corpus)
    if text.state["state"] != "done":
        detail = "corpus: this text is not indexed; GET /api/corpora/{id} says how far it is"
        raise ProblemError(404, "no-index", detail, field="corpus")
    return text


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
