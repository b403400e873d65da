"""Opens any model by its path, as in HEADLIGHT_MODELS: a bundle of this project, or `hf:` and more.

That is the folder of a model of the `transformers` library, or a hub's `owner/name[@revision]`.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.request import Decode, Request
from model.errors import FileError, InputError
from model.file_reading import reading

HUGGING_FACE = "hf:"  # prefix of the folder of a model of the `transformers` library


def open_model(
    path: str,
    device: str = "auto",
    drafts: Path | None = None,
    dtype: str | None = None,
    download: bool = False,
) -> Adapter:
    """Load the model at a path, and run a short text: see `load`, and `load_huggingface`.

    `dtype` is of models of the `transformers` library; a bundle has float32. With `download`, a
    model of a hub that is not in the cache is downloaded. Raises `FileError` for a model that
    cannot be read or run, or whose library is not installed, and `ValueError` for a device that is
    not there.
    """
    model = _loaded(path, device, drafts, dtype, download)
    with reading(Path(path.removeprefix(HUGGING_FACE))):
        _run_once(model)
    return model


def _loaded(
    path: str, device: str, drafts: Path | None, dtype: str | None, download: bool
) -> Adapter:
    if not path.startswith(HUGGING_FACE):
        return load(path, device, drafts=drafts)
    if find_spec("transformers") is None:
        raise FileError(path, "it needs the packages of requirements-hf.txt: run `make hf` first")
    # Imported only here: the import takes seconds, and the package is optional.
    from model.adapters.huggingface.hub import folder_of, hub_model

    place = path.removeprefix(HUGGING_FACE)
    hub = hub_model(place)
    folder = folder_of(hub, download) if hub else Path(place)

    from model.adapters.huggingface.huggingface_adapter import load_huggingface

    return load_huggingface(folder, device, dtype=dtype, name=hub.name if hub else "")


def _run_once(model: Adapter) -> None:
    """Run a text as a page would: a model that opens may still fail at its first request."""
    select = ("*.weights",) if any(name.endswith(".weights") for name in model.names) else ()
    request = Request("1", decode=Decode(max_tokens=1), select=select)
    try:
        model.check(request)
    except InputError:
        return  # its texts need more, such as a mask
    model.run([request])
