"""Texts of readers: indexed in processes, and kept in the data folder for some hours.

Each text has a folder with its index, `about.json` (what is known from the start) and `state.json`
(how far it is). Servers that share the data folder therefore open the same texts.
"""

import asyncio
import logging
import os
import shutil
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from app.engine.fair_queue import Client
from app.heads.index_process import Wanted, build
from app.http.limits import Shared
from app.http.log_format import logging_of
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import begin, repeat
from app.settings import Settings
from app.store.disk_files import disk_problem
from app.store.documents import dumped, is_id, key_digest, new_edit_key, new_id, opens
from app.store.storage_errors import files
from app.store.store import Store

ABOUT, STATE = "about.json", "state.json"
SWEEP_SECONDS = 5.0
STALE_SECONDS = 60.0  # without a sign of life of its server, after which a text has failed
RETRY_SECONDS = 20

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class IndexLimits:
    """The limits of readers' texts, from the settings."""

    at_once: int
    queue: int
    seconds: float
    kept: int
    hours: float
    threads: int
    nice: int

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the limits that the operator has set.

        In a cluster the models' files are on other machines, so none can be indexed here.
        """
        return cls(
            at_once=0 if settings.ray_address else settings.max_corpora,
            queue=settings.max_corpus_queue,
            seconds=settings.max_corpus_seconds,
            kept=settings.max_kept_corpora,
            hours=settings.keep_corpora_hours,
            threads=settings.max_run_threads,
            nice=settings.run_nice,
        )


class About(BaseModel):
    """What is known of a text from the start; texts of earlier versions have no `owner`."""

    model: str
    digest: str
    title: str
    sentence_count: int = Field(alias="given")
    created: Annotated[float, Field(ge=0, le=1e11)]  # a time, which NaN is not
    key: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    owner: str = ""


class State(BaseModel):
    """How far a text is."""

    model_config = ConfigDict(extra="allow")  # what its index says of itself

    state: Literal["queued", "running", "done", "failed"]
    indexed: int = Field(0, alias="done")
    of: int = 0
    sentences: int = 0
    why: str | None = None


FORMS: dict[str, type[BaseModel]] = {ABOUT: About, STATE: State}


@dataclass(frozen=True)
class Kept:
    """A text in the data folder."""

    id: str
    folder: Path
    about: dict[str, Any]
    state: dict[str, Any]
    expires: float


class Indexing:
    """The queue of texts to index, and the texts that are kept; used as `async with`."""

    def __init__(
        self,
        limits: IndexLimits,
        folder: Path,
        prepare: Callable[[], object] = lambda: None,
        keyed: Callable[[str], str] = str,
    ) -> None:
        """`keyed` returns what of an address is stored beside a text."""
        self.limits = limits
        self.folder = folder
        self._prepare, self._keyed = prepare, keyed
        self._room = asyncio.Semaphore(max(1, limits.at_once))
        self._tasks: dict[str, asyncio.Task[None]] = {}  # of texts that are not done
        self._clients: dict[str, Client] = {}  # who sent a text that is not done
        self._owners: dict[str, str] = {}  # the digest of its address, of each text that is kept
        self._sweeping: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self.on:
            self._sweeping = begin(repeat(self._sweep, SWEEP_SECONDS))
        return self

    async def __aexit__(self, *_: object) -> None:
        tasks = [*self._tasks.values(), *([self._sweeping] if self._sweeping else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def on(self) -> bool:
        """Whether this server indexes texts of readers."""
        return self.limits.at_once > 0

    def admit(self, client: Client) -> None:
        """Raise a ProblemError if no text can be added: 404, 429, 503 or 507."""
        limits, retry = self.limits, {"Retry-After": str(RETRY_SECONDS)}
        if not self.on:
            raise ProblemError(404, "indexing-off", "this server indexes no texts of readers")
        if client in [self._clients[text_id] for text_id in self._tasks]:
            detail = "at most 1 text per page is indexed at once; wait until it is done"
            raise ProblemError(429, "too-many-corpora", detail, headers=retry)
        places = Shared(limits.at_once + limits.queue, "texts being indexed")
        busy = (self._clients[text_id].address for text_id in self._tasks)
        if why := places.refusal(busy, client.address):
            raise ProblemError(503, "indexing-busy", why, headers=retry)
        quota = Shared(limits.kept, "kept texts")
        if why := quota.refusal(self._holders(), self._keyed(client.address)):
            raise ProblemError(507, "corpora-full", why, headers={"Retry-After": "600"})

    def start(
        self, model: str, path: str, digest: str, lines: tuple[str, ...], title: str, client: Client
    ) -> tuple[Kept, str]:
        """Add a text to the queue; return it and the key that deletes it.

        Raises what `admit` raises, and StorageError; then nothing of the text is kept.
        """
        self.admit(client)
        text_id, key = new_id(), new_edit_key()
        folder = self.folder / text_id
        about = {
            "model": model,
            "digest": digest,
            "title": title,
            "given": len(lines),
            "created": time.time(),
            "key": key_digest(key).hex(),
            "owner": self._keyed(client.address),
        }
        try:
            with files():
                folder.mkdir(mode=0o700, parents=True)
                _write(folder / ABOUT, about)
                _write(folder / STATE, {"state": "queued"})
            queued = self.find(text_id)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        index_task = Wanted(
            self._prepare, path, lines, title, folder, self.limits.threads, self.limits.nice
        )
        self._clients[text_id] = client
        self._tasks[text_id] = task = begin(self._index(index_task))
        task.add_done_callback(lambda _: self._done(text_id))
        return queued, key

    def find(self, text_id: str) -> Kept:
        """Return a text.

        Raises a 404 ProblemError if there is none, or if it has expired or is damaged, and
        StorageError if it cannot be read now.
        """
        folder = self.folder / text_id
        try:
            if not is_id(text_id):
                raise FileNotFoundError
            with files():
                about, state = (_read(folder / name) for name in (ABOUT, STATE))
                alive = (folder / STATE).stat().st_mtime
            expires = about["created"] + self.limits.hours * 3600
            if time.time() > expires:
                raise self._gone()
            if state["state"] in ("queued", "running") and time.time() - alive > STALE_SECONDS:
                state = {"state": "failed", "why": "stopped"}
        except (FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
            raise self._gone() from None
        return Kept(text_id, folder, about, state, expires)

    async def delete(self, text_id: str, key: str) -> None:
        """Delete a text, even while it is being indexed.

        Raises a 403 ProblemError for a wrong key.
        """
        text = self.find(text_id)
        if not opens(key, bytes.fromhex(text.about["key"])):
            detail = "Corpus-Key is not the key of this text"
            raise ProblemError(403, "wrong-corpus-key", detail, field="Corpus-Key")
        if task := self._tasks.get(text_id):
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await asyncio.to_thread(shutil.rmtree, text.folder, ignore_errors=True)

    async def _index(self, task: Wanted) -> None:
        state = task.folder / STATE

        def progress(done: int, of: int) -> None:
            _write(state, {"state": "running", "done": done, "of": of})

        try:
            async with self._room:
                progress(0, len(task.lines))
                _write(state, await build(task, self.limits.seconds, progress))
        except Exception as error:
            why = disk_problem(error)
            log.error("a text failed: %s", why or type(error).__name__)
            await asyncio.to_thread(_leave_no_half, task.folder, why or "crashed")
            if why is None:
                raise

    def _done(self, text_id: str) -> None:
        del self._tasks[text_id], self._clients[text_id]

    def _folders(self) -> list[Path]:
        return [*self.folder.iterdir()] if self.folder.is_dir() else []

    def _holders(self) -> list[str]:
        """Return who has each of the texts in the folder, of this server and of others."""
        names = {folder.name for folder in self._folders()}
        self._owners = {name: self._owners.get(name) or self._owner(name) for name in names}
        return [*self._owners.values()]

    def _owner(self, name: str) -> str:
        try:
            return str(_read(self.folder / name / ABOUT).get("owner", ""))
        except (OSError, ValueError):
            return ""  # half written, damaged, or of another version

    async def _sweep(self) -> None:
        await asyncio.to_thread(self._prune, [*self._tasks])

    def _prune(self, alive: Sequence[str]) -> None:
        """Say that texts are alive; delete those that have expired or cannot be read."""
        for text_id in alive:
            with suppress(OSError):
                os.utime(self.folder / text_id / STATE)
        for folder in self._folders():
            try:
                if not self._is_kept(folder):
                    shutil.rmtree(folder, ignore_errors=True)
            except FileNotFoundError:  # deleted by another server
                continue
            except Exception as error:  # whatever is wrong with one, the others expire
                log.error("a text cannot be examined: %s", type(error).__name__)

    def _is_kept(self, folder: Path) -> bool:
        """Return whether a folder has a text that has not expired, or is being written."""
        whole = _is_whole(folder)  # before it is read: what is being written may be whole after
        try:
            self.find(folder.name)
        except ProblemError:  # expired or damaged, if it is whole
            return not whole and time.time() - folder.stat().st_mtime <= STALE_SECONDS
        return True

    def _gone(self) -> ProblemError:
        detail = (
            f"corpus: there is no text with this id; one is kept for {self.limits.hours:g} hours"
        )
        return ProblemError(404, "unknown-corpus", detail, field="corpus")


@asynccontextmanager
async def open_indexing(services: Services) -> AsyncIterator[None]:
    """Open the texts of readers."""
    settings, folder = services[Settings], services[Settings].data_dir / "corpora"
    keyed, prepare = services[Store].owner, logging_of(settings)
    async with Indexing(IndexLimits.of(settings), folder, prepare, keyed) as indexing:
        services.add(indexing)
        yield


def _is_whole(folder: Path) -> bool:
    return (folder / ABOUT).exists() and (folder / STATE).exists()


def _leave_no_half(folder: Path, why: str) -> None:
    """Keep of a failed text only that and why it failed; nothing if that cannot be written."""
    try:
        for path in folder.iterdir():
            if path.name not in (ABOUT, STATE):
                path.unlink()
        _write(folder / STATE, {"state": "failed", "why": why})
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)


def _read(path: Path) -> dict[str, Any]:
    """Return a document about a text. Raises OSError, and ValueError if it is damaged."""
    form = FORMS[path.name].model_validate_json(path.read_bytes())
    return form.model_dump(exclude_unset=True, by_alias=True)


def _write(path: Path, document: dict[str, Any]) -> None:
    """Replace a file at once, so that no reader sees half of it."""
    if not path.parent.is_dir():
        return  # deleted
    part = path.with_suffix(".part")
    try:
        part.write_bytes(dumped(document))
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink()
        raise
