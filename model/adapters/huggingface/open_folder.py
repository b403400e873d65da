"""Opens a model's folder, as `save_pretrained` writes it, without running any code in it.

Only `*.safetensors` files are read, since opening a pickle can run code. For the same reason, a
model's own modules are never loaded (`trust_remote_code=False`). Nothing is downloaded (see `hub`).

`transformers` builds what a config asks for and then looks for the weights. Here the order is
reversed: the weights' headers are read first, and the model is built without memory (on the meta
device) and for a limited number of steps. So no folder takes more memory than its weights need.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from types import FrameType
from typing import Any

import tokenizers
import torch
import transformers
from safetensors import safe_open
from torch import Tensor, nn

from model.adapters.huggingface import recorded_attention
from model.adapters.huggingface.unsupported_models import check_reads_ids
from model.device import check_memory
from model.errors import FileError
from model.file_reading import (
    CONFIG_BYTES,
    TOKENIZER_BYTES,
    as_type,
    check_size,
    read_json,
    read_text,
    reading,
    tensor_shapes,
)

CONFIG, WEIGHTS, INDEX = "config.json", "*.safetensors", "model.safetensors.index.json"

SETTINGS = ("generation_config.json", "tokenizer_config.json", "special_tokens_map.json")

VOCABULARIES = ("tokenizer.json", "added_tokens.json", "vocab.json")

OTHERS = ("vocab.txt", "merges.txt", "*.model", "*.spm")

LAYERS = 1_000  # layers of a stack

LARGEST = 2**31 - 1  # a number in a config: some state the length of a text as this

STEPS = 30_000_000  # calls of functions; a model of 100 layers takes 700,000

PACKED = 16  # numbers of 2 bits in one of 32

SPARE = 1 << 26  # numbers of masks and tables, which are in no file


def check_files(folder: Path) -> dict[str, Any]:
    """Return the content of `config.json`. Raises `FileError` for the first file that is unfit."""
    if not (folder / CONFIG).is_file():
        raise FileError(folder, f"it is not a model's folder: it has no {CONFIG}")
    if not any(path.is_file() for path in folder.glob(WEIGHTS)):
        other_files = sorted(path.name for path in folder.glob("*.bin")) or ["no weights"]
        raise FileError(
            folder,
            f"it has {', '.join(other_files)}, but no {WEIGHTS}: only safetensors are read, since "
            "a pickle can run code",
        )
    config = read_json(folder / CONFIG, CONFIG_BYTES)
    _check_numbers(folder / CONFIG, config)
    for name in SETTINGS:
        if (folder / name).exists():
            read_json(folder / name, CONFIG_BYTES)
    for name in VOCABULARIES:
        if (folder / name).exists():
            read_json(folder / name, TOKENIZER_BYTES)
    for path in (path for pattern in OTHERS for path in folder.glob(pattern)):
        check_size(path, TOKENIZER_BYTES)
    _check_kind(folder / CONFIG, config)
    _check_shards(folder)
    return config


def _check_kind(path: Path, config: dict[str, Any]) -> None:
    kind = config.get("model_type")
    if not isinstance(kind, str) or kind not in transformers.CONFIG_MAPPING:
        code = "its own code (auto_map)" if "auto_map" in config else "a model's own code"
        raise FileError(
            path,
            f"it has the model type {str(kind)[:100]!r}, which transformers "
            f"{transformers.__version__} does not know; {code} is never run",
        )
    if "transformers_weights" in config:
        raise FileError(
            path, f"it names its weights (transformers_weights); only {WEIGHTS} are read"
        )


def _check_numbers(path: Path, value: Any, name: str = "") -> None:
    """Raise `FileError` for numbers that no model has: their loops would not end."""
    if isinstance(value, dict):
        for key, entry in value.items():
            _check_numbers(path, entry, str(key))
    elif isinstance(value, list):
        for entry in value:
            _check_numbers(path, entry, name)
    elif isinstance(value, int | float):
        limit = LAYERS if "layer" in name else LARGEST
        if abs(value) > limit:
            raise FileError(path, f"{name[:100]} must be at most {limit}, not {str(value)[:20]}")


def _check_shards(folder: Path) -> None:
    """Raise `FileError` if the index of the shards names other files than those of the folder."""
    path = folder / INDEX
    if not path.exists():
        return
    index = read_json(path)
    shards = as_type(path, dict[str, str], index.get("weight_map"), "weight_map").values()
    as_type(path, dict[str, Any], index.get("metadata"), "metadata")
    for name in sorted({*shards}):
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise FileError(path, f"{name[:100]!r} is not the name of a safetensors file")
        if not (folder / name).is_file():
            raise FileError(path, f"the folder has no {name[:100]}")


def check_sizes(folder: Path, class_: Any, config: Any) -> int:
    """Return the numbers of the model in a folder.

    Raises `FileError` if it would be larger than the weights of its folder.
    """
    paths = sorted(path for path in folder.glob(WEIGHTS) if path.is_file())
    stored = sum(prod(shape) for path in paths for _, shape in tensor_shapes(path).values())
    with reading(folder / CONFIG), _limited(folder / CONFIG), torch.device("meta"):
        model = class_(config)
    built: int = sum(tensor.numel() for tensor in {*model.parameters(), *model.buffers()})
    packed = PACKED if getattr(config, "quantization_config", None) else 1
    if built > 2 * packed * stored + SPARE:  # twice: a tied matrix is stored once
        raise FileError(
            folder / CONFIG,
            f"it asks for a model of {built:,} numbers, but the weights have {stored:,}",
        )
    return built


@contextmanager
def _limited(path: Path) -> Iterator[None]:
    """Raise `FileError` after `STEPS` calls of functions on this thread."""
    steps = 0

    def count(_: FrameType, __: str, ___: Any) -> None:
        nonlocal steps
        steps += 1
        if steps > 2 * STEPS:  # a call and its return
            raise _EndlessError

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        yield
    except _EndlessError:
        raise FileError(path, "the model that it asks for takes too long to build") from None
    finally:
        sys.setprofile(before)


class _EndlessError(BaseException):
    """The limit was reached; no `Exception`, so that no library catches it."""


def check_loaded(folder: Path, loading: dict[str, Any]) -> None:
    """Raise `FileError` if weights are missing or do not fit: `transformers` makes up random ones.

    A pooler may be missing: nothing here shows what it computes.
    """
    for name, stored, expected in loading["mismatched_keys"]:
        raise FileError(
            folder,
            f"the weights do not fit the config: {name[:100]} has the shape {tuple(stored)}, but "
            f"the config asks for {tuple(expected)}",
        )
    missing = sorted(name for name in loading["missing_keys"] if "pooler" not in name)
    if missing:
        raise FileError(
            folder,
            f"the weights lack {len(missing)} of those that the config asks for, such as "
            f"{missing[0][:100]}",
        )


CARD = "README.md"

ABOUT = "headlight.json"  # optional: {"name": …, "prompts": […]}

DTYPES: dict[str, Any] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
    "auto": "auto",  # as stored
}

QUANTISED = ("bitsandbytes", "gptq", "torchao")

OFFLINE: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


@dataclass(frozen=True)
class About:
    """The contents of `headlight.json`."""

    name: str = ""
    prompts: tuple[str, ...] = ()


@dataclass(frozen=True)
class OpenedModel:
    """A folder's model in evaluation mode, its tokenizer, and other contents of the folder."""

    model: Any  # a PreTrainedModel
    tokenizer: Any  # a PreTrainedTokenizerFast
    name: str
    digest: str
    card: str
    prompts: tuple[str, ...] = ()


def open_folder(folder: Path, device: str, dtype: str | None = None, name: str = "") -> OpenedModel:
    """Open a model in one of `DTYPES`: by default in float32, or as it was quantised.

    `name` is its name if the folder gives none. Raises `FileError`, which names the folder or the
    file, and `ValueError` for another dtype.
    """
    if dtype is not None and dtype not in DTYPES:
        raise ValueError(f"dtype must be one of {', '.join(DTYPES)}, not {str(dtype)[:40]!r}")
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    recorded_attention.register()
    model = _model(folder, device, dtype)
    for part in (model.config, model.config.get_text_config(), *_halves(model.config)):
        part.use_cache = False  # every pass reads the whole text
    card, about = folder / CARD, About()
    if (folder / ABOUT).exists():
        about = as_type(folder / ABOUT, About, read_json(folder / ABOUT, CONFIG_BYTES))
    tokenizer = _tokenizer(folder)
    rows = getattr(model.config.get_text_config(), "vocab_size", None)
    if isinstance(rows, int) and tokenizer.vocab_size > rows:
        detail = f"its tokenizer has {tokenizer.vocab_size} tokens, but the model {rows}"
        raise FileError(folder, detail)
    return OpenedModel(
        model.eval(),
        tokenizer,
        about.name or name or folder.name,
        _digest(folder),
        read_text(card) if card.is_file() else "",
        about.prompts,
    )


def _model(folder: Path, device: str, dtype: str | None) -> Any:
    """Return the model in the folder, with all its weights, on a device."""
    described = check_files(folder)
    with reading(folder / CONFIG):
        config = transformers.AutoConfig.from_pretrained(folder, **OFFLINE)
    class_ = _class(folder / CONFIG, described)
    numbers = check_sizes(folder, class_, config)
    quantised = _check_quantised(folder / CONFIG, described)
    stored = sum(path.stat().st_size for path in folder.glob(WEIGHTS))
    chosen = DTYPES[dtype or ("auto" if quantised else "float32")]
    check_memory(folder, stored if chosen == "auto" else numbers * chosen.itemsize, device)
    options: dict[str, Any] = {}
    if quantised:
        options["device_map"] = {"": device}  # such a model cannot be moved
    elif "quantization_config" in described:
        options["quantization_config"] = transformers.Mxfp4Config(dequantize=True)
    with reading(folder):
        model, loading = class_.from_pretrained(
            folder,
            config=config,
            use_safetensors=True,
            attn_implementation="eager",
            dtype=chosen,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **options,
            **OFFLINE,
        )
        check_loaded(folder, loading)
        if quantised:
            return model
        _untie(model, folder)
        return model.to(device)


def _check_quantised(path: Path, config: dict[str, Any]) -> bool:
    """Return whether a model is quantised and stays so; MXFP4 (gpt-oss) is made floats.

    Raises `FileError` for a library that is unknown: some fetch code from a hub to run a model.
    """
    settings = config.get("quantization_config")
    if not settings:
        return False
    method = settings.get("quant_method") if isinstance(settings, dict) else None
    if method == "mxfp4":
        return False
    if method not in QUANTISED:
        raise FileError(
            path,
            f"it is quantised by {str(method)[:40]!r}; only {', '.join(QUANTISED)} are opened, "
            "where the library is installed",
        )
    return True


def _class(path: Path, config: dict[str, Any]) -> Any:
    """Return the class that the config names, if it reads token ids."""
    names = as_type(path, list[str], config.get("architectures") or [], "architectures")
    classes = [getattr(transformers, name, None) for name in names]
    models = [
        class_
        for class_ in classes
        if isinstance(class_, type) and issubclass(class_, transformers.PreTrainedModel)
    ]
    if not models:
        raise FileError(path, "it names no architecture that transformers knows")
    with reading(path):
        check_reads_ids(models[0])
    return models[0]


def _halves(config: Any) -> list[Any]:
    """Return the configs of an encoder and a decoder that have their own, as T5Gemma's do."""
    halves = [getattr(config, name, None) for name in ("encoder", "decoder")]
    return [half for half in halves if isinstance(half, transformers.PreTrainedConfig)]


def _tokenizer(folder: Path) -> Any:
    """Return the tokenizer of a folder; only fast ones give their tokens' places."""
    needed = (
        "it needs a fast tokenizer, saved as tokenizer.json, which gives each token's place in the "
        "text. To write one, run AutoTokenizer.from_pretrained(folder).save_pretrained(folder) "
        "where the packages of its tokenizer (such as sentencepiece) are installed"
    )
    if (saved := folder / "tokenizer.json").exists():
        with reading(saved):
            tokenizers.Tokenizer.from_file(str(saved))  # its errors are of this file
    try:
        with reading(folder):
            tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **OFFLINE)
    except FileError as error:
        why = "its tokenizer cannot be opened" if saved.exists() else needed
        raise FileError(folder, f"{why} ({error.what.rstrip(':. ')})") from error
    if not tokenizer.is_fast:
        raise FileError(folder, f"{needed} ({type(tokenizer).__name__} is a slow one)")
    # Without files, some classes silently return a tokenizer that knows only special tokens.
    files = {*tokenizer.vocab_files_names.values(), "tokenizer.json"}
    if not any((folder / name).is_file() for name in files):
        raise FileError(folder, f"{needed} (the folder has none of {', '.join(sorted(files))})")
    return tokenizer


def _untie(model: Any, folder: Path) -> None:
    """Give the output layer its own matrix if the weights have one.

    `transformers` 5 ties every T5, but the output of T5 1.1 is not its embedding.
    """
    output = model.get_output_embeddings()
    stored = _stored(folder, "lm_head.weight")
    if output is None or stored is None or torch.equal(stored, output.weight.detach()):
        return
    if stored.shape == output.weight.shape:
        output.weight = nn.Parameter(stored.to(output.weight.dtype))


def _stored(folder: Path, name: str) -> Tensor | None:
    for path in sorted(folder.glob(WEIGHTS)):
        with safe_open(path, "pt") as file:
            if name in file.keys():  # noqa: SIM118
                tensor: Tensor = file.get_tensor(name)
                return tensor
    return None


def _digest(folder: Path) -> str:
    """Return a digest of config, tokenizer and weights."""
    digest = hashlib.sha256()
    paths = (*folder.glob("*.json"), *folder.glob(WEIGHTS))
    for path in sorted(path for path in paths if path.is_file()):
        digest.update(path.name.encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
