"""Opens a model's folder, as `save_pretrained` writes it, without running any code in it.

Only `*.safetensors` files are read, since opening a pickle can run code. For the same reason, a
model's own modules are never loaded (`trust_remote_code=False`). Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
import torch
import transformers
from safetensors import safe_open
from torch import Tensor, nn

from model.adapters.huggingface import attention
from model.adapters.huggingface.folder import (
    CONFIG,
    WEIGHTS,
    check_files,
    check_loaded,
    check_sizes,
)
from model.adapters.huggingface.refusals import check_reads
from model.errors import FileError
from model.files import CONFIG_BYTES, as_type, read_json, read_text, reading

CARD = "README.md"
ABOUT = "headlight.json"  # optional: {"name": …, "prompts": […]}
OFFLINE: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


@dataclass(frozen=True)
class About:
    """The contents of `headlight.json`."""

    name: str = ""
    prompts: tuple[str, ...] = ()


@dataclass(frozen=True)
class Opened:
    """A folder's model in evaluation mode, its tokenizer, and other contents of the folder."""

    model: Any  # a PreTrainedModel
    tokenizer: Any  # a PreTrainedTokenizerFast
    name: str
    digest: str
    card: str
    prompts: tuple[str, ...] = ()


def open_folder(folder: Path, device: str) -> Opened:
    """Open a model in float32. Raises `FileError`, which names the folder or the file."""
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    attention.register()
    model = _model(folder)
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
    return Opened(
        model.to(device).eval(),
        tokenizer,
        about.name or folder.name,
        _digest(folder),
        read_text(card) if card.is_file() else "",
        about.prompts,
    )


def _model(folder: Path) -> Any:
    """Return the model in the folder, with all its weights."""
    described = check_files(folder)
    with reading(folder / CONFIG):
        config = transformers.AutoConfig.from_pretrained(folder, **OFFLINE)
    class_ = _class(folder / CONFIG, described)
    check_sizes(folder, class_, config)
    with reading(folder):
        model, told = class_.from_pretrained(
            folder,
            config=config,
            use_safetensors=True,
            attn_implementation="eager",
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **OFFLINE,
        )
        check_loaded(folder, told)
        _untie(model, folder)
    return model


def _class(path: Path, config: dict[str, Any]) -> Any:
    """Return the class that the config names, if it reads token ids."""
    names = as_type(path, list[str], config.get("architectures") or [], "architectures")
    found = [getattr(transformers, name, None) for name in names]
    models = [
        one
        for one in found
        if isinstance(one, type) and issubclass(one, transformers.PreTrainedModel)
    ]
    if not models:
        raise FileError(path, "it names no architecture that transformers knows")
    with reading(path):
        check_reads(models[0])
    return models[0]


def _halves(config: Any) -> list[Any]:
    """Return the configs of an encoder and a decoder that have their own, as T5Gemma's do."""
    found = [getattr(config, name, None) for name in ("encoder", "decoder")]
    return [one for one in found if isinstance(one, transformers.PreTrainedConfig)]


def _tokenizer(folder: Path) -> Any:
    """Return the tokenizer of a folder; only fast ones give their tokens' places."""
    wanted = (
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
        why = "its tokenizer cannot be opened" if saved.exists() else wanted
        raise FileError(folder, f"{why} ({error.what.rstrip(':. ')})") from error
    if not tokenizer.is_fast:
        raise FileError(folder, f"{wanted} ({type(tokenizer).__name__} is a slow one)")
    # Without files, some classes silently return a tokenizer that knows only special tokens.
    files = {*tokenizer.vocab_files_names.values(), "tokenizer.json"}
    if not any((folder / name).is_file() for name in files):
        raise FileError(folder, f"{wanted} (the folder has none of {', '.join(sorted(files))})")
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
