"""Models of a hub by their name, `owner/name[@revision]`, from the cache of `huggingface_hub`.

A model that is in the cache is opened without any request. One that is not is downloaded only if
that is allowed, once: `huggingface_hub` does it, with the user's settings (`HF_HOME`, `HF_TOKEN`,
`HF_ENDPOINT`, proxies) and its own progress bars. Only what a model needs is fetched: config,
tokenizer, card and `*.safetensors`, never a pickle and never code. Every file that was fetched is
compared with the hash that the hub lists.

Weights are taken up where they broke off, also by another process. `huggingface_hub` goes on only
within one call: it gives each a file of its own, since locks do not hold on every network disk.
Here several calls share one; if such a lock fails, the hash does not fit, and nothing is kept.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import huggingface_hub
from filelock import FileLock
from huggingface_hub import HfApi, constants, errors, hf_hub_url, snapshot_download
from huggingface_hub.file_download import are_symlinks_supported, http_get, repo_folder_name
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]

from model.errors import FileError

SETTING = "HEADLIGHT_DOWNLOAD"
NAME = re.compile(r"([\w-][\w.-]*)/([\w-][\w.-]*)(?:@([\w.][\w./-]*))?", re.ASCII)
SINGLE = "model.safetensors"
SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
SHARDS = "model-?????-of-?????.safetensors"
OTHER_FILES = ("*.json", "*.model", "*.spm", "*.jinja", "vocab.txt", "merges.txt", "README.md")
NESTED = "*/*"  # other formats and checkpoints, in folders
MB = 1_000_000
LIBRARY = "headlight"  # as the hub counts downloads


@dataclass(frozen=True)
class HubModel:
    """A model of a hub, and which of its revisions; None is the default branch."""

    repository: str
    revision: str | None = None

    @property
    def name(self) -> str:
        """The name without that of its owner."""
        return self.repository.partition("/")[2]

    def __str__(self) -> str:
        return self.repository + (f"@{self.revision}" if self.revision else "")


def hub_model(place: str) -> HubModel | None:
    """Return the model that `owner/name[@revision]` names; None for a folder.

    A folder of that name in the working directory comes first, as in `transformers`.
    """
    match = NAME.fullmatch(place)
    if match is None or Path(place).exists():
        return None
    owner, name, revision = match.groups()
    return HubModel(f"{owner}/{name}", revision)


def folder_of(model: HubModel, download: bool) -> Path:
    """Return the folder of a model in the cache, into which it is downloaded if that is allowed.

    Raises `FileError` if it is not there, or could not be downloaded whole.
    """
    folder, whole = _cached(model)
    if folder and (whole or not download):
        return folder
    if not download:
        raise FileError(
            str(model),
            f"it is not in the cache, {constants.HF_HUB_CACHE}. To download it once, set "
            f"{SETTING}=1, or use load(…, download=True)",
        )
    lock = Path(constants.HF_HUB_CACHE) / ".locks" / f"headlight--{model.repository}.lock"
    lock = lock.with_name(lock.name.replace("/", "--"))
    lock.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):  # several processes of a server open the same model
        folder, whole = _cached(model)
        if folder and whole:
            return folder
        try:
            return _download(model)
        except FileError:
            if folder is None:
                raise
            return folder  # offline, with a cache that another program has filled


def _cached(model: HubModel) -> tuple[Path | None, bool]:
    """Return a model's folder in the cache, and whether all that is needed is known to be there."""
    try:
        files = huggingface_hub.get_cached_repo_tree(model.repository, revision=model.revision)
    except errors.CachedRepoTreeNotFoundError:
        files = []
    patterns = _patterns([file.path for file in files])
    try:
        folder = _snapshot(model, patterns, local_files_only=True)
    except errors.LocalEntryNotFoundError:
        return None, False
    return folder, bool(files)


def _patterns(names: Sequence[str]) -> list[str]:
    """Return patterns of the files to fetch: of weights, those that `transformers` would read."""
    return [*OTHER_FILES, SINGLE if SINGLE in names else SHARDS]


def _snapshot(model: HubModel, patterns: Sequence[str], **options: Any) -> Path:
    return Path(
        snapshot_download(
            model.repository,
            revision=model.revision,
            allow_patterns=list(patterns),
            ignore_patterns=NESTED,
            library_name=LIBRARY,
            **options,
        )
    )


def _download(model: HubModel) -> Path:
    with _problems(model):
        info = HfApi(library_name=LIBRARY).model_info(
            model.repository, revision=model.revision, files_metadata=True
        )
    files = {file.rfilename: file for file in info.siblings or ()}
    if SINGLE not in files and not any(map(SHARD.fullmatch, files)):
        weights = sorted(name for name in files if name.endswith((".bin", ".safetensors", ".gguf")))
        raise FileError(
            str(model),
            f"it has {', '.join(weights[:3]) or 'no weights'}, but no {SINGLE}: only safetensors "
            "of a whole model are read; nothing was downloaded",
        )
    patterns = _patterns([*files])
    missing = [
        name
        for name in files
        if any(fnmatchcase(name, pattern) for pattern in patterns)
        and not fnmatchcase(name, NESTED)
        and huggingface_hub.try_to_load_from_cache(model.repository, name, revision=info.sha)
        is None
    ]
    size = sum(files[name].size or 0 for name in missing)
    _check_disk(model, size)
    print(
        f"Downloading {model} ({str(info.sha)[:8]}) from {constants.ENDPOINT}: {len(missing)} "
        f"files, {size / MB:,.1f} MB, into {constants.HF_HUB_CACHE}",
        file=sys.stderr,
        flush=True,
    )
    with _problems(model):
        checked = {name for name in missing if _fetch(model, files[name], str(info.sha))}
        folder = _snapshot(model, patterns)
    if folder.name != info.sha:
        raise FileError(str(model), "it was changed during the download; try again")
    for name in missing:
        if name not in checked:
            _check_hash(model, folder / name, files[name])
    return folder


def _fetch(model: HubModel, file: Any, commit: str) -> bool:
    """Put weights into the cache's blobs, to which a snapshot links; go on with a part of them.

    Returns whether that was possible: the others are left to `huggingface_hub`.
    """
    if file.lfs is None or file.lfs.size > constants.MAX_HTTP_DOWNLOAD_SIZE:
        return False
    cache = Path(constants.HF_HUB_CACHE)
    blobs = cache / repo_folder_name(repo_id=model.repository, repo_type="model") / "blobs"
    blob = blobs / file.lfs.sha256
    if blob.exists() or not are_symlinks_supported(cache):  # without them it would be copied
        return False
    blobs.mkdir(parents=True, exist_ok=True)
    part = blob.with_suffix(".headlight.incomplete")
    with part.open("ab") as content:
        if content.tell() > file.lfs.size:
            content.truncate(0)
        http_get(
            hf_hub_url(model.repository, file.rfilename, revision=commit),
            content,
            resume_size=content.tell(),
            headers=build_hf_headers(library_name=LIBRARY),
            expected_size=file.lfs.size,
            displayed_filename=file.rfilename,
        )
    _check_hash(model, part, file)
    part.replace(blob)
    return True


def _check_disk(model: HubModel, size: int) -> None:
    """Raise `FileError` if the cache's disk has no place for so many bytes."""
    folder = Path(constants.HF_HUB_CACHE)
    free = shutil.disk_usage(folder).free
    if size > free:
        raise FileError(
            str(model),
            f"it needs {size / MB:,.1f} MB in {folder}, where {free / MB:,.1f} MB are free; "
            "HF_HOME names another folder for the cache",
        )


def _check_hash(model: HubModel, path: Path, listed: Any) -> None:
    """Raise `FileError` for a file that is not the one that the hub lists, and delete it."""
    with path.open("rb") as file:
        if listed.lfs is not None:
            kind, expected = "SHA-256", listed.lfs.sha256
            actual = hashlib.file_digest(file, "sha256").hexdigest()
        else:  # as git names it
            kind, expected = "git hash", listed.blob_id
            head = f"blob {path.stat().st_size}\0".encode()
            actual = hashlib.sha1(head + file.read(), usedforsecurity=False).hexdigest()
    if actual == expected:
        return
    path.resolve().unlink(missing_ok=True)
    path.unlink(missing_ok=True)
    raise FileError(
        str(model),
        f"{listed.rfilename} was not downloaded as the hub lists it: its {kind} is "
        f"{actual[:12]}…, not {str(expected)[:12]}…; it was deleted, so try again",
    )


@contextmanager
def _problems(model: HubModel) -> Iterator[None]:
    """Turn an error of `huggingface_hub` into a `FileError` that says what to do."""
    try:
        yield
    except errors.GatedRepoError as error:
        raise FileError(
            str(model),
            "it is gated: accept its terms on its page, then set HF_TOKEN to a token that may read "
            "it (or run `hf auth login`)",
        ) from error
    except errors.RevisionNotFoundError as error:
        detail = f"the hub {constants.ENDPOINT} has no revision {model.revision!r} of it"
        raise FileError(str(model), detail) from error
    except errors.RepositoryNotFoundError as error:
        raise FileError(
            str(model),
            f"the hub {constants.ENDPOINT} has no such model, or it is private: then set HF_TOKEN "
            "to a token that may read it",
        ) from error
    except FileError:
        raise
    except Exception as error:  # of the network, of the disk, of the hub
        first = (str(error).strip().splitlines() or [""])[0][:200]
        raise FileError(
            str(model),
            f"it could not be downloaded from {constants.ENDPOINT} ({type(error).__name__}: "
            f"{first}); what was fetched is kept, and the next attempt goes on from there",
        ) from error
