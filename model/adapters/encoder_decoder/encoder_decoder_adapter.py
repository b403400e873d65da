"""The adapter of this repository's Transformer: it answers requests with traces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import torch
from torch import Tensor

from model.adapters.encoder_decoder.description import info_of, recorded_names, scores_of, stream_of
from model.adapters.encoder_decoder.drafts import Drafter, Targets, open_drafter
from model.adapters.encoder_decoder.passes import Read, Row, Rows, Writer, decode, encode
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.bind_interventions import bind
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Decoding, LongPass, Trace, candidates, scored
from model.adapters.requests.validate import check_request, widths_of
from model.bundle.measurements import Measured, load_measured
from model.bundle.weights import CHECKPOINTS, Bundle, load_bundle
from model.decode.decoding_steps import Hypothesis
from model.device import choose_device
from model.explain import logit_lens, nearest_tokens, score_terms
from model.explain.attribution import names as attribution_names
from model.explain.logit_lens import names as inside_names
from model.explain.logit_lens import needed as inside_needed
from model.explain.logit_lens import parts
from model.explain.patterns import needed, summary
from model.explain.relevance import names as relevance_names
from model.explain.residual_stream import Stream
from model.file_reading import reading
from model.long.flash_kernels import Rule, Scored, flash_attention
from model.long.long_attention import LongAttention
from model.text.tokens import BOS, Token
from model.trace.attentions import AttentionInfo
from model.trace.interventions import Intervention
from model.trace.tensor_names import select
from model.trace.tensor_tap import SOURCE, TARGET, NamedTensor, Recorder
from model.transformer.masks import named
from model.transformer.parameters import parameters
from model.transformer.scoring import SCORINGS

WEIGHTS = ".weights"


def load(
    path: str | Path,
    device: str = "auto",
    id_: str | None = None,
    *,
    measured: bool = True,
    drafts: Path | None = None,
) -> EncoderDecoder:
    """Load the model of a bundle: a folder, or the name of one that ships with Headlight.

    `device` is "auto" (CUDA if there is one), "cpu", "cuda" or "mps". With `measured=False`,
    measurements next to the weights are neither read nor checked. With a folder for `drafts`,
    greedy decoding is faster if CTranslate2 is installed, with the same results. Raises `FileError`
    for a bundle or measurements that cannot be used, and `ValueError` for another device.
    """
    shipped = CHECKPOINTS / path
    folder = shipped if shipped.is_dir() else Path(path)
    bundle = load_bundle(folder, choose_device(device))
    beside = load_measured(folder, bundle) if measured else None
    drafter = open_drafter(bundle, drafts) if drafts else None
    with reading(folder):
        return EncoderDecoder(bundle, id_ or folder.name, beside, drafter)


Written = tuple[str, Sequence[Token]]  # a row's output, as text and as tokens


@dataclass(frozen=True)
class Passed:
    """A row of a pass, and its results."""

    row: Row
    texts: Mapping[str, tuple[Token, ...]]  # what was read, including padding
    written: Written
    recorder: Recorder
    logprobs: Tensor  # (T, V), where T may include padding


class EncoderDecoder(Adapter):
    """An encoder–decoder bundle behind the `Adapter` interface."""

    stream: Stream

    def __init__(
        self,
        bundle: Bundle,
        id_: str,
        measured: Measured | None = None,
        drafter: Drafter | None = None,
    ) -> None:
        self.model = bundle.model
        self.tokenizer = bundle.tokenizer
        measured = measured or Measured()
        self.means = measured.means
        self.learning = measured.learning
        self.drafter = drafter
        self.device = bundle.device
        self.info = info_of(bundle, id_, measured)
        self.names = recorded_names(self.model)
        config = self.model.config
        layers = {"encoder": config.encoder_layers, "decoder": config.decoder_layers}
        hidden = {
            f"{stack}.{n}.ffn": config.d_ff for stack, count in layers.items() for n in range(count)
        }
        self.widths = widths_of(self.names, config.d_model, hidden)
        self.stream = stream_of(self.model)
        self.scores = scores_of(self.model) if "scores" in self.info.capabilities else {}
        inside = inside_names(self.stream, self.names)
        self._parts = parts(self.stream, self.names)
        relevances = relevance_names(self.info.places)
        self.selectable = [
            *self.names,
            *inside,
            *relevances,
            *attribution_names(),
            *nearest_tokens.NAMES,
        ]
        if self.learning:
            self.learning.check(self.info.attentions)
        self.rows = Rows(
            self.tokenizer,
            bundle.detector,
            bundle.directions,
            self.model.config.max_tokens,
            self.device,
        )
        self._parameters = dict(parameters(self.model))
        self._writer = Writer(self.model, self.tokenizer, self.rows.batch)

    def validate(self, request: Request) -> None:
        """Raise `InputError` for the first field that is invalid for this model."""
        source, target = self.rows.source(request), self.rows.target(request)
        self._selected(request)
        texts = {SOURCE: source} if target is None else {SOURCE: source, TARGET: target}
        writable = self._writer.writable(request, source)
        check_request(self, request, texts, writable, self.names, self.widths, self._lengths)

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        """Decode requests without a target, then run and record all of them as one batch.

        A row whose draft was wrong is run again with a better one. The first drafts are made while
        the encoder runs.
        """
        with torch.inference_mode():
            rows = self._rows(requests)
            targets = Targets(self._writer, self.drafter, rows)
            recorders = [self._recorder(row) for row in rows]
            read = encode(self.model, self.rows, recorders, [self._source(row) for row in rows])
            spelled = cache(self.tokenizer.written)
            traces: dict[int, Trace] = {}
            while unfinished := [index for index in range(len(rows)) if index not in traces]:
                written = [
                    (rows[index].request.target or "", target)
                    if (target := rows[index].target)
                    else spelled(ids)
                    for index, ids in zip(unfinished, targets.of(unfinished), strict=True)
                ]
                group = (
                    [rows[index] for index in unfinished],
                    [recorders[index] for index in unfinished],
                )
                passed = self._pass(*group, read.rows(unfinished), written)
                for index, run in zip(unfinished, passed, strict=True):
                    if targets.agrees(index, run.logprobs):
                        traces[index] = self._trace(run)
            return [traces[index] for index in range(len(rows))]

    def texts_of(self, request: Request) -> dict[str, tuple[Token, ...]]:
        """Return the tokens of the source, and of a target that is given as it is read."""
        source, target = self.rows.source(request), self.rows.target(request)
        texts = {SOURCE: tuple(source)}
        if target is not None:
            texts[TARGET] = (self.tokenizer.control(BOS), *target[:-1])
        return texts

    def read_long(self, request: Request, dtype: torch.dtype) -> LongPass:
        """Run a checked request, keeping q and k of every attention in this precision."""
        [trace] = self.run([replace(request, select=NEEDED, summarise=())])
        with torch.inference_mode():
            return long_pass(trace, dtype)

    @torch.inference_mode()
    def hypotheses(self, requests: Sequence[Request]) -> list[tuple[Hypothesis, ...]]:
        """Return the hypotheses of beam search for each request, best first; ignores `method`."""
        return self._writer.beams(self._rows(requests))

    def write(self, request: Request) -> Decoding:
        """Return a decoding, step by step (see `model.decode.greedy_and_sampling`)."""
        source = self.rows.source(request)
        limited = replace(request.decode, max_tokens=self._writer.limit(request, source))
        return Decoding(
            self.info,
            replace(request, decode=limited),
            {SOURCE: tuple(source)},
            self._writer.steps(Row(request, source, self._bound([request])[0])),
            self.rows.direction(request),
        )

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return the text that ids spell, and the ids as its tokens."""
        return self.tokenizer.written(ids)

    def token(self, id_: int, *, first: bool = False) -> Token:
        """Return an id as a token without offsets."""
        return self.tokenizer.token(id_, first=first)

    def matrices(self, patterns: Sequence[str]) -> dict[str, NamedTensor]:
        """Return the parameters that match the patterns (see `model.transformer.parameters`)."""
        return {name: self._parameters[name] for name in select(patterns, self._parameters)}

    def _rows(self, requests: Sequence[Request]) -> list[Row]:
        read = {
            (request.source, request.direction): request for request in requests
        }  # each sentence once
        sources = {sentence: self.rows.source(request) for sentence, request in read.items()}
        return [
            Row(
                request,
                sources[request.source, request.direction],
                bound,
                self.rows.target(request),
            )
            for request, bound in zip(requests, self._bound(requests), strict=True)
        ]

    def _bound(self, requests: Sequence[Request]) -> list[tuple[Intervention, ...]]:
        """Return the interventions with their values."""
        return bind(requests, self.run, self.means, self.device)

    def _lengths(self, request: Request) -> dict[str, int]:
        """Return the maximum number of tokens of each text."""
        target = self.rows.target(request)
        written = len(target) if target else self.info.max_tokens
        return {SOURCE: len(self.rows.source(request)), TARGET: written}

    def _recorder(self, row: Row) -> Recorder:
        """Return a recorder for a row, as far as the encoder needs it."""
        lengths = {SOURCE: len(self._source(row))}
        unpadded = {SOURCE: len(row.source)}
        return Recorder(self._recorded(row.request), lengths, unpadded, row.made)

    def _pass(
        self,
        rows: Sequence[Row],
        recorders: Sequence[Recorder],
        read: Read,
        written: Sequence[Written],
    ) -> list[Passed]:
        """Run one pass of the decoder over all rows, each writing what is in `written`."""
        bos = self.tokenizer.control(BOS)
        wrote = [tokens for _, tokens in written]
        targets = [
            self.rows.padded([bos, *tokens[:-1]], row.request.pad_to)
            for row, tokens in zip(rows, wrote, strict=True)
        ]
        recorders = [
            replace(
                recorder,
                lengths={**recorder.lengths, TARGET: len(target)},
                own={**recorder.own, TARGET: len(tokens)},
            )
            for recorder, target, tokens in zip(recorders, targets, wrote, strict=True)
        ]
        texts = [
            {SOURCE: tuple(self._source(row)), TARGET: tuple(target)}
            for row, target in zip(rows, targets, strict=True)
        ]
        logprobs = decode(self.model, self.stream, self.rows, recorders, read, targets, wrote)
        return [
            Passed(*columns)
            for columns in zip(rows, texts, written, recorders, logprobs, strict=True)
        ]

    def _trace(self, run: Passed) -> Trace:
        request, recorded = run.row.request, run.recorder.tensors
        scores = score_terms.look(self.scores, run.recorder, self.device)
        nearest_tokens.look(self.model.embedding.weight, run.recorder, SOURCE, run.texts[SOURCE])
        selected = self._selected(request)
        tensors = {name: recorded[name] for name in selected if name in recorded}
        output = scored(
            *run.written, run.logprobs, self.tokenizer.ends, request.decode.length_penalty
        )
        return Trace(
            model=self.info,
            request=request,
            texts=run.texts,
            tensors=tensors,
            written=output,
            direction=self.rows.direction(request),
            summaries={
                place: summary(place, recorded, run.texts, output.tokens)
                for place in self._summarised(request)
            },
            pieces={id_: self.tokenizer.token(id_) for id_ in candidates(tensors)},
            scores=scores,
        )

    def _source(self, row: Row) -> list[Token]:
        return self.rows.padded(row.source, row.request.pad_to)

    def _selected(self, request: Request) -> tuple[str, ...]:
        selectable = [
            *self.selectable,
            *score_terms.names(self.scores, request.select),
            *logit_lens.contrast_names(self._parts, self.info.places, request.select),
        ]
        return select(request.select, selectable)

    def _recorded(self, request: Request) -> set[str]:
        """Return the selected names, and those that summaries and `inside` tensors need."""
        selected = self._selected(request)
        return {*selected}.union(
            needed(self._summarised(request)),
            inside_needed(self.stream, selected),
            score_terms.needed(self.scores, selected),
        )

    def _summarised(self, request: Request) -> tuple[str, ...]:
        return select(request.summarise, self.info.places, "summarise")


NEEDED = ("*.q", "*.k")


def long_pass(trace: Trace, dtype: torch.dtype) -> LongPass:
    """Return the pass of a trace that recorded `NEEDED`, for a model whose scores are q·k, scaled.

    The trace was run with explicit attention: these models read texts for which that is fast.
    """
    attentions = dict(_kept(trace, dtype))
    return LongPass(trace.texts, attentions, trace.written, trace.direction)


def _kept(trace: Trace, dtype: torch.dtype) -> Iterator[tuple[str, LongAttention]]:
    for attention in trace.model.attentions:
        q, k = (trace[f"{attention.place}.{name}"].value for name in ("q", "k"))
        scale = SCORINGS[attention.scoring](attention.heads, q.shape[-1]).scale
        scored = Scored(_rule(attention, q.shape[1], k.shape[1]), scale)
        _, sums = flash_attention(q, k, k, scored)  # the mix is known already
        yield attention.place, LongAttention.keep(q, k, sums, scored, attention.over, dtype)


def _rule(info: AttentionInfo, queries: int, keys: int) -> Rule:
    mask = named(info.mask)

    def allows(rows: slice, columns: slice) -> Tensor:
        positions = (torch.arange(part.start, part.stop) for part in (rows, columns))
        shape = rows.stop - rows.start, columns.stop - columns.start
        return mask(*positions).expand(shape)

    return Rule(allows, queries, keys)
