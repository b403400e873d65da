"""What a model of `transformers` cannot answer: the first invalid field of a request."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from model.adapters.bind_interventions import frozen
from model.adapters.huggingface.rows import Rows
from model.adapters.request import Adapter, Request
from model.adapters.validate import check_decode, check_interventions, check_range
from model.errors import Excess, InputError
from model.text.tokens import Token
from model.trace.name_patterns import select


def validate(
    adapter: Adapter, rows: Rows, request: Request, selectable: Collection[str], changeable: bool
) -> None:
    """Raise `InputError` for the first field that is invalid for this model."""
    tokens = rows.tokens(request)
    target = rows.target(request)
    select(request.select, selectable)
    select(request.summarise, adapter.info.places, "summarise")
    check_decode(request.decode, adapter.info.max_tokens)
    _check_prefix(rows, request, tokens)
    _check_interventions(adapter, request, {rows.read: len(tokens)}, changeable)
    if request.pad_to is not None:
        longest = max(len(tokens), len(target or ()))
        check_range("pad_to", request.pad_to, longest, adapter.info.max_tokens)


def _check_interventions(
    adapter: Adapter, request: Request, lengths: dict[str, int], changeable: bool
) -> None:
    info = adapter.info
    # The text being written has places too.
    most = dict.fromkeys(info.texts, info.max_tokens)
    lengths = most if info.kind == "decoder" else {**most, **lengths}
    if request.interventions and not changeable:
        detail = "interventions: the attention of this model cannot be changed"
        raise InputError("unsupported", "interventions", detail)
    check_interventions(request.interventions, adapter.names, info.attentions, lengths)
    for sentence, index in frozen(request.interventions).items():
        try:
            adapter.check(sentence)
        except InputError as error:
            field = f"interventions[{index}].do.freeze.{error.field}"
            raise InputError(error.kind, field, error.detail) from error


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
