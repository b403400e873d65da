"""The models that this server serves, by id, and which of them are in memory.

Every bundle is opened once at startup, so that a broken one is reported at once and a model can be
described without its weights. One that cannot be opened is left out of the list, and named beside
it; the others are served. At most `max_models` stay loaded; the least recently used one is
unloaded, and loaded again when it is next requested.

Small models (those of the zoo, and those kept from training runs) do not count: once used, they
stay loaded, since all of them together take less memory than any other model. Kept models appear in
a folder while the server runs, and are loaded when they are first used.
"""

import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from threading import Lock, RLock

from app.engine.long_text_pictures import Passes
from app.engine.model_listing import Listing
from model.adapters.open_model import open_model
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.model_info import ModelInfo
from model.errors import FileError

Loader = Callable[[], Adapter]

KEPT = "kept-*"  # folders of models kept from training runs

log = logging.getLogger(__name__)


class NoModelError(Exception):
    """None of the models that a server should serve can be opened; the message has a line each."""


class Catalog(Mapping[str, Adapter]):
    """Adapters by id, in the order of the settings: the first is the default.

    `small` are the ids of models that, once used, stay loaded without counting. So do models that
    appear in `kept_folder`, whose ids are the names of their folders. `passes` caches passes
    over long texts.
    Thread-safe; methods that load a model block.
    """

    def __init__(
        self,
        loaders: Mapping[str, Loader],
        max_models: int,
        small: Collection[str] = (),
        kept_folder: Path | None = None,
        passes: Passes | None = None,
    ) -> None:
        self.max_models = max_models
        self.passes = passes or Passes()
        self._small = frozenset(small)
        self._kept = kept_folder
        self._loaders = dict(loaders)
        self._loading = {name: Lock() for name in loaders}
        self._loaded: OrderedDict[str, Adapter] = OrderedDict()  # least recently used first
        self._users: Counter[str] = Counter()
        # Reentrant: garbage collection of a stream can release its model at any point.
        self._lock = RLock()
        self._infos: dict[str, ModelInfo] = {}
        self._names: dict[str, tuple[str, ...]] = {}
        self._errors: dict[str, Exception] = {}  # of models that cannot be opened
        for name in reversed(self._loaders):  # the default last, so that it stays loaded
            self._describe(name)
        if not self._infos.keys() - self._small:
            failures = [f"{name}: {self._errors[name]}" for name in loaders if name in self._errors]
            raise NoModelError("\n".join(["no model can be opened", *failures]))

    def _describe(self, name: str) -> None:
        """Open a model for the first time, and note what it is, or why it cannot be opened."""
        try:
            adapter = self[name]
        except Exception as error:  # of any library: the other models are still served
            log.error("the model %s cannot be opened: %s", name, error)
            self._errors[name] = error
            return
        self._infos[name], self._names[name] = adapter.info, tuple(adapter.names)
        if name in self._small:
            del self._loaded[name]

    @classmethod
    def load(
        cls,
        bundles: Mapping[str, str],
        device: str,
        max_models: int = 1,
        drafts: Path | None = None,
        small: Mapping[str, str] | None = None,
        kept_folder: Path | None = None,
        passes: Passes | None = None,
        dtype: str | None = None,
        download: bool = False,
    ) -> "Catalog":
        """Open every bundle; those of `small` models and in `kept_folder` come last.

        Arguments are those of `model.adapters.open_model.open_model`. Small models decode fast
        enough without drafts. Raises `NoModelError` if none of `bundles` can be opened.
        """
        loaders = {
            name: partial(open_model, path, device, drafts, dtype, download)
            for name, path in bundles.items()
        }
        kept_paths = (
            {path.name: str(path) for path in sorted(kept_folder.glob(KEPT))} if kept_folder else {}
        )
        little = {**(small or {}), **kept_paths}
        loaders |= {name: partial(open_model, path, device) for name, path in little.items()}
        return cls(loaders, max_models, little, kept_folder, passes)

    @classmethod
    def of(cls, adapters: Mapping[str, Adapter]) -> "Catalog":
        """Create a catalog from existing adapters."""
        loaded = dict(adapters)
        return cls({name: partial(loaded.__getitem__, name) for name in loaded}, len(loaded))

    @property
    def listing(self) -> Listing:
        """The models' descriptions, without their weights."""
        infos = {name: self._infos[name] for name in self}
        names = {name: self._names[name] for name in self}
        unopened = {name: _reason(error) for name, error in self._errors.items()}
        return Listing(infos, names, min(self.max_models, len(self)), unopened)

    @contextmanager
    def using(self, name: str) -> Iterator[Adapter]:
        """Yield a model that stays loaded until the block ends."""
        with self._lock:
            self._users[name] += 1
        try:
            yield self[name]
        finally:
            with self._lock:
                self._users[name] -= 1
                self._release(self.max_models)

    @property
    def loaded(self) -> list[str]:
        """The models in memory, the least recently used first."""
        with self._lock:
            return list(self._loaded)

    def __getitem__(self, name: str) -> Adapter:
        if name not in self._loaders:
            self._find(name)
        with self._loading[name]:  # concurrent callers wait for the same load
            with self._lock:
                if name in self._loaded:
                    self._loaded.move_to_end(name)
                    return self._loaded[name]
                if name not in self._small:
                    self._release(self.max_models - 1)
            adapter = self._loaders[name]()
            with self._lock:
                self._loaded[name] = adapter
                self._release(self.max_models)
            return adapter

    def _find(self, name: str) -> None:
        """Add a model that was kept after startup. Raises KeyError if there is none."""
        with self._lock:
            if self._kept is None or not (self._kept / name).is_dir():
                raise KeyError(name)
            self._forget_deleted(self._kept)
            self._loading.setdefault(name, Lock())
            self._small |= {name}
            self._loaders.setdefault(name, partial(open_model, str(self._kept / name), "cpu"))

    def _forget_deleted(self, kept_folder: Path) -> None:
        """Unload kept models whose folders have been deleted."""
        for name in [loader for loader in self._loaders if fnmatchcase(loader, KEPT)]:
            if not (kept_folder / name).is_dir():
                self._loaded.pop(name, None)
                del self._loaders[name]

    def _release(self, max_loaded: int) -> None:
        """Unload models, least recently used first, except those in use and small ones."""
        counted = [name for name in self._loaded if name not in self._small]
        idle = [name for name in counted if not self._users[name]]
        for name in idle[: max(0, len(counted) - max_loaded)]:
            del self._loaded[name]

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._loaders if name not in self._errors)

    def __len__(self) -> int:
        return len(self._loaders.keys() - self._errors.keys())


def _reason(error: Exception) -> str:
    """Return why a model cannot be opened, without the folders of the server."""
    return error.brief if isinstance(error, FileError) else type(error).__name__
