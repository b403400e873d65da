"""The description of a model of the `transformers` library."""

from __future__ import annotations

from typing import Any, Literal

from torch import nn

from model.adapters.huggingface.opening import Opened
from model.adapters.huggingface.probing import Layout
from model.adapters.huggingface.refusals import vocabulary
from model.adapters.model_info import CAPABILITIES, ModelInfo

ENDLESS = 1_000_000  # a tokenizer's maximum of this or more means that it has none
WITHOUT = 512  # maximum for a model that does not state one
LENGTHS = (
    "max_position_embeddings",
    "n_positions",
    "max_sequence_length",
    "max_seq_len",
    "seq_length",
)


def info_of(opened: Opened, id_: str, layout: Layout, writes: bool) -> ModelInfo:
    """Return the description of an opened model."""
    config = opened.model.config.get_text_config()
    kind: Literal["encoder-decoder", "encoder", "decoder"] = "encoder-decoder"
    if not opened.model.config.is_encoder_decoder:
        kind = "decoder" if layout.attentions[0].stack == "decoder" else "encoder"
    abilities = {
        "encoder-decoder": {"decode", "score", "alignment", "candidates"},
        "decoder": {"decode", "candidates"},
        "encoder": {"candidates"},
    }
    mask = (opened.tokenizer.mask_token or "") if kind == "encoder" and writes else ""
    if layout.route == "recorded" and (kind != "encoder" or mask):
        abilities[kind].add("sweep")
    return ModelInfo(
        id=id_,
        name=opened.name,
        kind=kind,
        attentions=layout.attentions,
        d_model=config.hidden_size,
        parameters=sum(one.numel() for one in opened.model.parameters()),
        vocabulary=vocabulary(opened.model),
        languages=(),
        max_tokens=_length(opened.model, config, opened.tokenizer),
        digest=opened.digest,
        card=opened.card,
        prompts=opened.prompts,
        mask=mask,
        positions="none",
        norm="pre",
        bias=False,
        capabilities=frozenset(abilities[kind] if writes else ()),
    )


def missing(info: ModelInfo, writes: bool, recorded: bool, chat: str) -> dict[str, str]:
    """Return why the model lacks each capability that it lacks; `chat` is why it has no chat."""
    encoder, inner = info.kind == "encoder", "unknown-layers" if recorded else "weights-only"
    reasons = {
        "decode": "reads-only" if encoder else "no-head",
        "score": "one-text" if len(info.texts) == 1 else "no-head",
        "alignment": "one-text" if len(info.texts) == 1 else "no-head",
        "candidates": "no-head",
        "sweep": "weights-only" if not recorded else "no-mask-token" if writes else "no-head",
        "lens": inner if writes else "no-head",
        "contributions": "not-a-sum" if "lens" in info.capabilities else inner,
        "scores": "unknown-scores" if "lens" in info.capabilities else inner,
        "relevance": "masks-only" if encoder and writes else inner,
        "attribution": "one-text" if len(info.texts) == 1 else inner,
        "worksheet": "weights-only",
        "mean": "weights-only",
        "parameters": inner,
        "positions": "no-table",
        "long": "own-code" if recorded else "weights-only",
        "learning": "no-snapshots",
        "padding": "mixes-positions",
        "chat": chat if info.kind == "decoder" else "reads-only" if encoder else "no-template",
    }
    if not writes:
        reasons |= dict.fromkeys(("contributions", "relevance"), "no-head")
    lacking = CAPABILITIES.keys() - info.capabilities
    return {one: reasons[one] for one in sorted(lacking)}


def _length(model: nn.Module, config: Any, tokenizer: Any) -> int:
    """Return the maximum number of tokens that both the positions and the tokenizer allow."""
    told = [getattr(config, name, None) for name in LENGTHS]
    limits = [one for one in told if isinstance(one, int) and one > 0]
    for name, module in model.named_modules():
        # In RoBERTa and similar models, positions start after that of padding.
        learned = name.endswith("position_embeddings") and isinstance(module, nn.Embedding)
        if learned and module.padding_idx is not None:
            limits.append(module.num_embeddings - module.padding_idx - 1)
    if tokenizer.model_max_length < ENDLESS:
        limits.append(tokenizer.model_max_length)
    return min(limits, default=WITHOUT)
