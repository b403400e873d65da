"""Files for the browser: those in `static/`, and those from Python packages.

Every address has a digest of its content, so browsers may cache it permanently:

    /static/{digest}/page/workspace.js   one digest for the folder; a page's modules as one script
    /vendor/{digest}/plotly.min.js       one digest per file, compressed ahead of time
"""

import gzip
import hashlib
import logging
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from importlib.resources import files
from pathlib import Path
from tempfile import NamedTemporaryFile

import brotli
from filelock import FileLock

from app.settings import ROOT

STATIC = ROOT / "static"
FOREVER = "public, max-age=31536000, immutable"
BROTLI = 9  # level; 11 makes files a tenth smaller, but takes fifteen times as long
SUFFIXES = {"br": ".br", "gzip": ".gz"}
HALF_WRITTEN = re.compile(r"[0-9a-f]{16}-.+\.(br|gz)\w+")  # names of `_write`

log = logging.getLogger(__name__)


def vendored() -> dict[str, Path]:
    """Return the files served from installed packages, by the name in their address."""
    plotly = Path(str(files("plotly") / "package_data"))
    swagger = Path(str(files("fastapi_offline") / "static"))
    return {
        "plotly.min.js": plotly / "plotly.min.js",
        "swagger-ui-bundle.js": swagger / "swagger-ui-bundle.js",
        "swagger-ui.css": swagger / "swagger-ui.css",
    }


def digest_of(*folders: Path) -> str:
    """Return a digest of everything in the folders.

    Replicas with the same files get the same digest.
    """
    digest = hashlib.sha256()
    for folder in folders:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    return digest.hexdigest()[:16]


def find_static(path: str, folder: Path = STATIC) -> Path | None:
    """Return the file at a path of `static/`; None if it is missing or outside the folder."""
    try:
        file = (folder / path).resolve(strict=True)
    except (OSError, ValueError):  # no such file, or not a valid file name
        return None
    return file if file.is_relative_to(folder) and file.is_file() else None


class Vendor:
    """Files of other packages, each with a digest, and compressed copies in `cache`.

    `compress` makes the copies in the background, once per version of a file. Until a copy exists,
    the file is served uncompressed.
    """

    def __init__(self, sources: Mapping[str, Path], cache: Path) -> None:
        self.sources = dict(sources)
        self.cache = cache
        self.digests = {
            name: hashlib.sha256(path.read_bytes()).hexdigest()[:16]
            for name, path in self.sources.items()
        }

    def url(self, name: str) -> str:
        """Return the address of a file. Raises KeyError if it is not served."""
        return f"/vendor/{self.digests[name]}/{name}"

    def find(self, name: str, accepted: list[str]) -> tuple[Path, str | None]:
        """Return the best copy for a client that accepts these encodings, and its encoding."""
        for encoding in SUFFIXES:
            path = self._copy(name, encoding)
            if encoding in accepted and path.is_file():
                return path, encoding
        return self.sources[name], None

    def compress(self) -> threading.Thread:
        """Start making the missing copies."""
        thread = threading.Thread(target=self._compress, name="compress", daemon=True)
        thread.start()
        return thread

    def _copy(self, name: str, encoding: str) -> Path:
        return self.cache / f"{self.digests[name]}-{name}{SUFFIXES[encoding]}"

    def _compress(self) -> None:
        try:
            self._write_copies()
        except OSError as error:  # a full disk: files are served uncompressed
            log.warning("vendored files cannot be compressed: %s", error.strerror)

    def _write_copies(self) -> None:
        self.cache.mkdir(parents=True, exist_ok=True)
        with FileLock(self.cache / "compress.lock"):  # servers that share a folder take turns
            for old_copy in self.cache.iterdir():
                if HALF_WRITTEN.fullmatch(old_copy.name):  # left by a server that was killed
                    old_copy.unlink()
            for name, source in self.sources.items():
                data = source.read_bytes()
                with suppress(FileNotFoundError):  # the folder was deleted, so no copy is needed
                    _write(self._copy(name, "gzip"), partial(gzip.compress, data, 9))
                    _write(self._copy(name, "br"), partial(brotli.compress, data, quality=BROTLI))


def _write(path: Path, content: Callable[[], bytes]) -> None:
    """Write a new file, completely or not at all."""
    if path.is_file():
        return
    with NamedTemporaryFile(dir=path.parent, prefix=path.name, delete=False) as file:
        half = Path(file.name)
        try:
            file.write(content())
            file.flush()
            half.replace(path)
        except OSError:
            half.unlink(missing_ok=True)
            raise
