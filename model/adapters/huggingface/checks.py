"""What a model of `transformers` cannot answer: the first invalid field of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from model.adapters.huggingface.rows import Rows
from model.adapters.request import Adapter, Request
from model.adapters.validate import check_decode, check_interventions
from model.adapters.validate_attribution import check_attribution
from model.adapters.validate_parts import check_range, widths_of
from model.adapters.validate_patches import check_patches
from model.errors import Excess, InputError
from model.explain import contrast, score_terms
from model.text.tokens import Token
from model.trace.name_patterns import select
from model.trace.tensor_tap import TARGET


def validate(
    adapter: Adapter,
    rows: Rows,
    request: Request,
    dims: Mapping[str, tuple[str, ...]],
    changeable: bool,
) -> None:
    """Raise `InputError` for the first field that is invalid for this model.

    `dims` are those of the tensors that a run records.
    """
    tokens = rows.tokens(request)
    target = rows.target(request)
    check_attribution(request.select, len(tokens), len(target or ()))
    select(request.summarise, adapter.info.places, "summarise")
    check_decode(request.decode, adapter.info.max_tokens)
    _check_prefix(rows, request, tokens)
    lengths = _lengths(adapter, rows, request)
    _check_interventions(adapter, rows, request, dims, changeable)
    if target is not None:
        lengths[TARGET] = len(target)
    reached = {text: max(length, request.pad_to or 0) for text, length in lengths.items()}
    score_terms.check(adapter.info.attentions, request.select, reached)
    predicting = reached[adapter.info.attentions[-1].query]
    contrast.check(request.select, adapter.info.vocabulary, predicting)
    if request.pad_to is not None:
        longest = max(len(tokens), len(target or ()))
        check_range("pad_to", request.pad_to, longest, adapter.info.max_tokens)


def _check_interventions(
    adapter: Adapter,
    rows: Rows,
    request: Request,
    dims: Mapping[str, tuple[str, ...]],
    changeable: bool,
) -> None:
    info = adapter.info
    if request.interventions and not changeable:
        detail = "interventions: the attention of this model cannot be changed"
        raise InputError("unsupported", "interventions", detail)
    lengths = partial(_lengths, adapter, rows)
    hidden = {network.place: network.hidden for network in info.networks}
    widths = widths_of(dims, info.d_model, hidden)
    check_interventions(request.interventions, dims, info.attentions, lengths(request), widths)
    check_patches(adapter, request, dims, lengths)


def _lengths(adapter: Adapter, rows: Rows, request: Request) -> dict[str, int]:
    """Return the maximum number of tokens of each text: one that is written has places too."""
    info = adapter.info
    most = dict.fromkeys(info.texts, info.max_tokens)
    return most if info.kind == "decoder" else {**most, rows.read: len(rows.tokens(request))}


def _check_prefix(rows: Rows, request: Request, tokens: Sequence[Token]) -> None:
    prefix, limit = request.decode.prefix, rows.limit(request, tokens)
    if len(prefix) > max(limit, 0):
        detail = f"decode.prefix has {len(prefix)} tokens; this output has at most {limit}"
        excess = Excess(limit, "tokens", len(prefix))
        raise InputError("too-long", "decode.prefix", detail, excess)
    never, eos = set(rows.text.never.tolist()), rows.text.tokenizer.eos_token_id
    for index, id_ in enumerate(prefix):
        ended = id_ == eos and index < len(prefix) - 1
        begins = index == 0 and id_ == rows.first
        if not 0 <= id_ < rows.info.vocabulary or (id_ in never and not begins) or ended:
            field = f"decode.prefix[{index}]"
            detail = f"{field} must be the id of a token that can be written there"
            raise InputError("unknown-token", field, detail)
