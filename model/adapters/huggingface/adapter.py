"""The adapter of a model of the `transformers` library."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock

import torch
from cachetools import LRUCache

from model.adapters.bind_interventions import bind, frozen
from model.adapters.decode_requests import BEYOND_SOURCE
from model.adapters.huggingface.forward import Forward, batch
from model.adapters.huggingface.info import info_of
from model.adapters.huggingface.long import LongForward
from model.adapters.huggingface.opening import Opened, open_folder
from model.adapters.huggingface.probing import probe
from model.adapters.huggingface.text import Text
from model.adapters.huggingface.writing import Ends, Rereading, search
from model.adapters.long_pass import LongPass
from model.adapters.output import Output
from model.adapters.request import Adapter, Decoding, Request, Trace, candidates
from model.adapters.scored_output import scored
from model.adapters.validate import check_decode, check_interventions, check_range
from model.decode.steps import SearchStep
from model.errors import Excess, InputError
from model.explain.patterns import needed, summary
from model.text.fit import fits
from model.text.tokens import Token
from model.trace.interventions import Intervention
from model.trace.name_patterns import present, select
from model.trace.tensor_tap import SOURCE, TARGET, NamedTensor, Recorder

KNOWN = 256  # recent decodings that are cached
GOES_ON = 20  # tokens that a decoder adds by default
Ids = tuple[int, ...]


def load_huggingface(
    folder: str | Path, device: str = "auto", id_: str | None = None
) -> HuggingFace:
    """Load a model from a folder in the format of `save_pretrained`.

    `device` is "auto" (CUDA if there is one), "cpu" or "cuda". Raises `ValueError` for a folder
    that cannot be read.
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    opened = open_folder(Path(folder), device)
    return HuggingFace(opened, id_ or opened.name)


@dataclass(frozen=True)
class Row:
    """A request, its tokens (with padding) by text, and its interventions with their values."""

    request: Request
    texts: dict[str, tuple[Token, ...]]
    own: dict[str, int]  # tokens that are not padding
    made: tuple[Intervention, ...]

    def ids(self, text: str) -> list[int]:
        """Return the ids of a text."""
        return [token.id for token in self.texts[text]]


class HuggingFace(Adapter):
    """A model of one text, or of a source and a target, behind the `Adapter` interface."""

    def __init__(self, opened: Opened, id_: str) -> None:
        self.model = opened.model
        layout = probe(self.model)
        writes = self.model.get_output_embeddings() is not None
        self.route = layout.route
        self.forward = Forward(self.model, layout, writes)
        self.long_forward = LongForward(self.model, layout)
        self.info = info_of(opened, id_, layout, writes)
        if self.long_forward.works():
            able = self.info.capabilities | {"long"}
            self.info = replace(self.info, capabilities=able)
        self.names = self.forward.names()
        self.text = Text(opened.tokenizer, self.info.vocabulary, self.info.kind == "decoder")
        self.device = self.model.device
        self.never = self.text.never.to(self.device)
        self.ends = Ends(opened.tokenizer.eos_token_id)
        self._known: LRUCache[Hashable, Ids] = LRUCache(KNOWN)
        self._lock = Lock()

    @property
    def read(self) -> str:
        """The text that is given: "source" or "text"."""
        return self.info.texts[0]

    def validate(self, request: Request) -> None:
        """Raise `InputError` for the first field that is invalid for this model."""
        tokens = self._tokens(request)
        target = self._target(request)
        select(request.select, self.names)
        select(request.summarise, self.info.places, "summarise")
        check_decode(request.decode, self.info.max_tokens)
        self._check_prefix(request, tokens)
        self._check_interventions(request, {self.read: len(tokens)})
        if request.pad_to is not None:
            longest = max(len(tokens), len(target or ()))
            check_range("pad_to", request.pad_to, longest, self.info.max_tokens)

    def _check_interventions(self, request: Request, lengths: dict[str, int]) -> None:
        # The text being written has places too.
        most = dict.fromkeys(self.info.texts, self.info.max_tokens)
        lengths = most if self.info.kind == "decoder" else {**most, **lengths}
        if request.interventions and self.route != "recorded":
            detail = "interventions: the attention of this model cannot be changed"
            raise InputError("unsupported", "interventions", detail)
        check_interventions(request.interventions, self.names, self.info.attentions, lengths)
        for sentence, index in frozen(request.interventions).items():
            try:
                self.check(sentence)
            except InputError as error:
                field = f"interventions[{index}].do.freeze.{error.field}"
                raise InputError(error.kind, field, error.detail) from error

    def _check_prefix(self, request: Request, tokens: Sequence[Token]) -> None:
        prefix, limit = request.decode.prefix, self._limit(request, tokens)
        if len(prefix) > max(limit, 0):
            detail = f"decode.prefix has {len(prefix)} tokens; this output has at most {limit}"
            excess = Excess(limit, "tokens", len(prefix))
            raise InputError("too-long", "decode.prefix", detail, excess)
        never = set(self.text.never.tolist())
        for index, id_ in enumerate(prefix):
            ended = id_ == self.ends.eos and index < len(prefix) - 1
            if not 0 <= id_ < self.info.vocabulary or id_ in never or ended:
                field = f"decode.prefix[{index}]"
                detail = f"{field} must be the id of a token that can be written there"
                raise InputError("unknown-token", field, detail)

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        """Run and record all requests as one batch; decode a missing target first."""
        with torch.inference_mode():
            made = bind(requests, self.run, {}, self.device)
            rows = [self._row(*pair) for pair in zip(requests, made, strict=True)]
            if self.info.kind == "encoder-decoder":
                return self._translated(rows)
            recorders = [self._recorder(row) for row in rows]
            self.forward.read(*self._batch(rows, self.read), recorders)
            pairs = zip(rows, recorders, strict=True)
            return [self._trace(row, recorder) for row, recorder in pairs]

    def texts_of(self, request: Request) -> dict[str, tuple[Token, ...]]:
        """Return the tokens of the text, and of a target that is given as it is read."""
        texts = {self.read: tuple(self._tokens(request))}
        target = self._target(request)
        if target is not None:
            texts[TARGET] = (self._start, *target[:-1])
        return texts

    def read_long(self, request: Request, dtype: torch.dtype) -> LongPass:
        """Run a checked request, keeping q and k of every attention in this precision."""
        row = self._row(request, ())
        ids = torch.tensor([row.ids(self.read)], device=self.device)
        with torch.inference_mode():
            if self.info.kind != "encoder-decoder":
                return LongPass(row.texts, self.long_forward.read(ids, dtype)[0])
            text, tokens = self._wrote(row)
            row = self._with_target(row, tokens)
            target = torch.tensor([row.ids(TARGET)], device=self.device)
            kept, logits = self.long_forward.translate(ids, target, dtype)
            logprobs = logits[0].float().log_softmax(-1).cpu()
        penalty = request.decode.length_penalty
        return LongPass(row.texts, kept, scored(text, tokens, logprobs, self.ends.eos, penalty))

    def _translated(self, rows: Sequence[Row]) -> list[Trace]:
        wrote = [self._wrote(row) for row in rows]
        rows = [
            self._with_target(row, tokens) for row, (_, tokens) in zip(rows, wrote, strict=True)
        ]
        recorders = [self._recorder(row) for row in rows]
        read = self.forward.encode(*self._batch(rows, SOURCE), recorders)
        target, target_real = self._batch(rows, TARGET)
        logits = self.forward.decode(read, target, target_real, recorders)
        logprobs = logits.float().log_softmax(-1).cpu()
        return [
            self._trace(
                row,
                recorder,
                scored(*written, own, self.ends.eos, row.request.decode.length_penalty),
            )
            for row, recorder, written, own in zip(rows, recorders, wrote, logprobs, strict=True)
        ]

    def _wrote(self, row: Row) -> tuple[str, tuple[Token, ...]]:
        """Return the output of a row: its target, or the model's own."""
        target = self._target(row.request)
        if target is not None:
            return row.request.target or "", tuple(target)
        key = (tuple(row.ids(SOURCE)), row.request.decode, row.request.interventions)
        with self._lock:
            known = self._known.get(key)
        if known is None:
            *_, last = self._steps(row)
            known = last.written[0].ids
            with self._lock:
                self._known[key] = known
        return self.text.written(known)

    def write(self, request: Request) -> Decoding:
        """Return a decoding, step by step: of a target, or of a text's continuation."""
        row = self._row(request, bind([request], self.run, {}, self.device)[0])
        limit = self._limit(request, row.texts[self.read])
        limited = replace(request, decode=replace(request.decode, max_tokens=limit))
        texts = {self.read: row.texts[self.read]}
        return Decoding(self.info, limited, texts, self._steps(replace(row, request=limited)))

    def _steps(self, row: Row) -> Iterator[SearchStep]:
        """Yield the steps of decoding a row, without padding, which changes nothing."""
        own = row.own[self.read]
        recorder = Recorder(interventions=row.made, own={self.read: own})
        read = torch.tensor([row.ids(self.read)[:own]], device=self.device)
        if self.info.kind == "decoder":

            def following(ids: torch.Tensor, recorders: Sequence[Recorder]) -> torch.Tensor:
                real = torch.ones_like(ids, dtype=torch.bool)
                return self.forward.read(ids, real, recorders)[:, -1]

            recorder, begun = replace(recorder, own={}), read[0].tolist()
        else:
            real = torch.ones_like(read, dtype=torch.bool)
            encoded = self.forward.encode(read, real, [recorder])

            def following(ids: torch.Tensor, recorders: Sequence[Recorder]) -> torch.Tensor:
                mine = torch.ones_like(ids, dtype=torch.bool)
                repeated = encoded.repeated(len(ids))
                return self.forward.decode(repeated, ids, mine, recorders)[:, -1]

            begun = [self._start.id]
        reader = Rereading(following, begun, recorder, self.never)
        limit = self._limit(row.request, row.texts[self.read][:own])
        decode = row.request.decode
        if not decode.prefix and (first := self._first) is not None:
            decode = replace(decode, prefix=(first,))
        with torch.inference_mode():
            yield from search(reader, self.ends, decode, limit)

    @property
    def _start(self) -> Token:
        """The token that the decoder of an encoder–decoder reads first."""
        id_ = self.model.config.decoder_start_token_id
        return Token("<start>", self.text.pad if id_ is None else id_, 0, 0, True)

    @property
    def _first(self) -> int | None:
        """The forced first token of an encoder–decoder's output, such as a language."""
        found = getattr(self.model.generation_config, "forced_bos_token_id", None)
        return found if self.info.kind == "encoder-decoder" else None

    def _limit(self, request: Request, tokens: Sequence[Token]) -> int:
        """Return the maximum number of tokens to write."""
        if self.info.kind == "decoder":
            left = self.info.max_tokens - len(tokens)
            return min(left, request.decode.max_tokens or GOES_ON)
        most = min(self.info.max_tokens, len(tokens) + BEYOND_SOURCE)
        return min(most, request.decode.max_tokens or most)

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return the text that ids spell, and the ids as its tokens."""
        return self.text.written(ids)

    def token(self, id_: int, *, first: bool = False) -> Token:
        """Return an id as a token without offsets."""
        return self.text.token(id_, first=first)

    def _tokens(self, request: Request) -> list[Token]:
        return self._fitting(self.read, request.source)

    def _target(self, request: Request) -> list[Token] | None:
        return None if request.target is None else self._fitting(TARGET, request.target)

    def _fitting(self, field: str, text: str) -> list[Token]:
        """Return a text's tokens; raises `InputError` for an empty or too long one."""
        tokens = list(self.text.encode(text))
        if not any(token.end > token.start for token in tokens):
            raise InputError("empty-text", field, f"{field} is empty")
        most = self.info.max_tokens
        if len(tokens) > most:
            detail = f"{field} has {len(tokens)} tokens; this model reads at most {most}"
            excess = Excess(most, "tokens", len(tokens), fits(text, most, self.text.encode))
            raise InputError("text-too-long", field, detail, excess)
        return tokens

    def _row(self, request: Request, made: tuple[Intervention, ...]) -> Row:
        tokens = self._tokens(request)
        padded = self._padded(tokens, request.pad_to)
        return Row(request, {self.read: padded}, {self.read: len(tokens)}, made)

    def _with_target(self, row: Row, written: Sequence[Token]) -> Row:
        """Return a row whose decoder reads what it writes, shifted by one."""
        tokens = [self._start, *written[:-1]]
        texts = {**row.texts, TARGET: self._padded(tokens, row.request.pad_to)}
        return replace(row, texts=texts, own={**row.own, TARGET: len(tokens)})

    def _padded(self, tokens: Sequence[Token], pad_to: int | None) -> tuple[Token, ...]:
        pad = Token("<pad>", self.text.pad, 0, 0, True)
        return (*tokens, *[pad] * ((pad_to or 0) - len(tokens)))

    def _batch(self, rows: Sequence[Row], text: str) -> tuple[torch.Tensor, torch.Tensor]:
        ids, own = [row.ids(text) for row in rows], [row.own[text] for row in rows]
        return batch(ids, own, self.text.pad, self.device)

    def _recorder(self, row: Row) -> Recorder:
        request = row.request
        places = select(request.summarise, self.info.places, "summarise")
        wanted = {*select(request.select, self.names), *present(needed(places), self.names)}
        lengths = {text: len(tokens) for text, tokens in row.texts.items()}
        return Recorder(wanted, lengths, row.own, row.made)

    def _trace(self, row: Row, recorder: Recorder, output: Output | None = None) -> Trace:
        request, recorded = row.request, recorder.tensors
        tensors: dict[str, NamedTensor] = {
            name: recorded[name] for name in select(request.select, self.names)
        }
        said = (output.tokens,) if output else ()
        return Trace(
            model=self.info,
            request=request,
            texts=row.texts,
            tensors=tensors,
            written=output,
            summaries={
                place: summary(place, recorded, row.texts, *said)
                for place in select(request.summarise, self.info.places, "summarise")
            },
            pieces={id_: self.token(id_) for id_ in candidates(tensors)},
        )
