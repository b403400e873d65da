"""Opens a model's folder, as `save_pretrained` writes it, without running any code in it.

Only `*.safetensors` files are read, since opening a pickle can run code. For the same reason, a
model's own modules are never loaded (`trust_remote_code=False`). Nothing is downloaded.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import safe_open
from torch import Tensor, nn

from model.adapters.huggingface import recording
from model.adapters.huggingface.refusals import check_reads

CONFIG, CARD, WEIGHTS = "config.json", "README.md", "*.safetensors"
ABOUT = "headlight.json"  # optional: {"name": …, "prompts": […]}
OFFLINE: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


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
    """Open a model in float32. Raises `ValueError`, which names the folder, if unreadable."""
    config = _config(folder)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    recording.register()
    model = _class(folder, config).from_pretrained(
        folder,
        config=config,
        use_safetensors=True,
        attn_implementation="eager",
        dtype=torch.float32,
        **OFFLINE,
    )
    _untie(model, folder)
    for part in (model.config, model.config.get_text_config(), *_halves(model.config)):
        part.use_cache = False  # every pass reads the whole text
    card, told = folder / CARD, folder / ABOUT
    about = json.loads(told.read_text()) if told.is_file() else {}
    return Opened(
        model.to(device).eval(),
        _tokenizer(folder),
        about.get("name", folder.name),
        _digest(folder),
        card.read_text() if card.is_file() else "",
        tuple(about.get("prompts", ())),
    )


def _config(folder: Path) -> Any:
    if not (folder / CONFIG).is_file():
        raise ValueError(f"{folder} is not a model's folder: it has no {CONFIG}")
    if not list(folder.glob(WEIGHTS)):
        others = sorted(path.name for path in folder.glob("*.bin")) or ["no weights"]
        raise ValueError(
            f"{folder} has {', '.join(others)}, but no {WEIGHTS}: only safetensors are read, "
            "since a pickle can run code"
        )
    told = json.loads((folder / CONFIG).read_text())
    known = transformers.CONFIG_MAPPING.keys()
    if told.get("model_type") not in known:
        raise ValueError(
            f"{folder} has the model type {told.get('model_type')!r}, which transformers "
            f"{transformers.__version__} does not know; a model's own code is never run"
        )
    return transformers.AutoConfig.from_pretrained(folder, **OFFLINE)


def _class(folder: Path, config: Any) -> Any:
    """Return the class that the config names, if it reads token ids."""
    names = [name for name in config.architectures or () if hasattr(transformers, name)]
    if not names:
        raise ValueError(f"{folder}: {CONFIG} names no architecture that transformers knows")
    class_ = getattr(transformers, names[0])
    check_reads(class_)
    return class_


def _halves(config: Any) -> list[Any]:
    """Return the configs of an encoder and a decoder that have their own, as T5Gemma's do."""
    found = [getattr(config, name, None) for name in ("encoder", "decoder")]
    return [one for one in found if isinstance(one, transformers.PreTrainedConfig)]


def _tokenizer(folder: Path) -> Any:
    """Return the tokenizer of a folder; only fast ones give their tokens' places."""
    wanted = (
        f"{folder} needs a fast tokenizer, saved as tokenizer.json: it gives each token's place in "
        f'the text. To write one, run AutoTokenizer.from_pretrained("{folder}").save_pretrained('
        f'"{folder}") where the packages of its tokenizer (such as sentencepiece) are installed'
    )
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, **OFFLINE)
    except (ImportError, OSError, ValueError) as error:
        (reason, *_) = str(error).strip().splitlines() or [type(error).__name__]
        raise ValueError(f"{wanted} ({reason.rstrip(':. ')})") from error
    if not tokenizer.is_fast:
        raise ValueError(f"{wanted} ({type(tokenizer).__name__} is a slow one)")
    # Without files, some classes silently return a tokenizer that knows only special tokens.
    files = {*tokenizer.vocab_files_names.values(), "tokenizer.json"}
    if not any((folder / name).is_file() for name in files):
        raise ValueError(f"{wanted} (the folder has none of {', '.join(sorted(files))})")
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
    for path in sorted((*folder.glob("*.json"), *folder.glob(WEIGHTS))):
        digest.update(path.name.encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()
