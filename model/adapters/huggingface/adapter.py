"""The adapter of a model of the `transformers` library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from model.adapters.bind_interventions import bind
from model.adapters.huggingface import checks
from model.adapters.huggingface.company import LONG, mixes_positions
from model.adapters.huggingface.decoding import Steps
from model.adapters.huggingface.explaining import Inside
from model.adapters.huggingface.forward import Forward
from model.adapters.huggingface.info import info_of, missing
from model.adapters.huggingface.long import LongForward
from model.adapters.huggingface.mean_outputs import MeanOutputs
from model.adapters.huggingface.opening import Opened, open_folder
from model.adapters.huggingface.parameters import read
from model.adapters.huggingface.predicting import Predicting
from model.adapters.huggingface.probing import draw_ids, probe
from model.adapters.huggingface.rows import Row, Rows
from model.adapters.huggingface.tokenizer import Text
from model.adapters.huggingface.twin import twin
from model.adapters.long_pass import LongPass
from model.adapters.output import Output
from model.adapters.request import Adapter, Decoding, Request, Trace, candidates
from model.adapters.scored_output import scored
from model.decode.steps import SearchStep
from model.explain import score_terms
from model.explain.patterns import needed, summary
from model.files import reading
from model.text.tokens import Token
from model.trace.name_patterns import INSIDE, present, select
from model.trace.tensor_tap import SOURCE, TARGET, BatchTap, NamedTensor, Recorder


def load_huggingface(
    folder: str | Path, device: str = "auto", id_: str | None = None
) -> HuggingFace:
    """Load a model from a folder in the format of `save_pretrained`.

    `device` is "auto" (CUDA if there is one), "cpu" or "cuda". Raises `FileError` for a folder
    that cannot be read or served.
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    opened = open_folder(Path(folder), device)
    with reading(Path(folder)):
        return HuggingFace(opened, id_ or opened.name)


class HuggingFace(Adapter):
    """A model of one text, or of a source and a target, behind the `Adapter` interface."""

    def __init__(self, opened: Opened, id_: str) -> None:
        self.model = opened.model
        self.device = self.model.device
        layout = probe(self.model)
        writes = self.model.get_output_embeddings() is not None
        self.route = layout.route
        streaming = twin(self.model)
        self.forward = Forward(self.model, streaming, layout, writes)
        self.long_forward = LongForward(self.model, layout)
        self.inside = Inside(streaming, layout, self.forward, writes)
        info = info_of(opened, id_, layout, writes)
        found = self.inside.stream
        self.stream = found if found is not None and found.exact else None
        able = self.inside.capabilities(info.kind)
        if self.long_forward.works():
            able.add("long")
        self.text = Text(
            opened.tokenizer, info.vocabulary, info.kind == "decoder", _ends(self.model)
        )
        if info.kind == "decoder" and writes and not self.text.chat.missing:
            able.add("chat")
        if not mixes_positions(self.forward, draw_ids(self.model, LONG)[0], self.text.pad):
            able.add("padding")
        self.info = replace(
            info,
            attentions=tuple(self.inside.described(one) for one in info.attentions),
            networks=tuple(one.info for one in self.inside.networks.values()),
            norm=self.inside.norm,
            positions=self.inside.positions,
            capabilities=info.capabilities | able,
        )
        chat = self.text.chat.missing or "no-head"
        why = missing(self.info, writes, self.route == "recorded", chat)
        self.info = replace(self.info, missing=why)
        self.names = self.forward.names()
        self.selectable = [*self.names, *self.inside.names(self.info, self.names)]
        self._parameters = self.inside.parameters()
        self.rows = Rows(self.model, self.text, self.info)
        self.steps = Steps(self.model, self.forward, self.rows, layout.route == "recorded")
        self.means = MeanOutputs(self.model, list(self.names), info.prompts, self.run, self.takes)
        self.predicting = Predicting(self.rows, self.steps, writes)

    def validate(self, request: Request) -> None:
        """Raise `InputError` for the first field that is invalid for this model."""
        changeable = self.route == "recorded"
        self._selected(request)
        checks.validate(self, self.rows, request, self.names, changeable)

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        """Run and record all requests as one batch; decode a missing target first.

        A model that cannot read padding runs one request after the other.
        """
        if len(requests) > 1 and "padding" not in self.info.capabilities:
            return [trace for request in requests for trace in self.run([request])]
        with torch.inference_mode():
            made = bind(requests, self.run, self.means, self.device)
            rows = [self.rows.row(*pair) for pair in zip(requests, made, strict=True)]
            if self.info.kind == "encoder-decoder":
                return self._translated(rows)
            return self._predicted([self.predicting.continued(row) for row in rows])

    def _predicted(self, rows: Sequence[Row]) -> list[Trace]:
        """Run rows of a model of one text."""
        recorders = [self._recorder(row) for row in rows]
        logits = self.forward.read(*self.rows.batch(rows, self.rows.read), BatchTap(recorders))
        outputs = [self.predicting.output(*pair) for pair in zip(rows, logits, strict=True)]
        if any(self._looks(row) for row in rows):
            predicted = [
                self.predicting.predicted(*pair) for pair in zip(rows, outputs, strict=True)
            ]
            self.inside.look(recorders, rows, predicted)
        return [self._trace(*one) for one in zip(rows, recorders, outputs, strict=True)]

    def texts_of(self, request: Request) -> dict[str, tuple[Token, ...]]:
        """Return the tokens of the text, and of a target that is given as it is read."""
        return self.rows.texts_of(request)

    def read_long(self, request: Request, dtype: torch.dtype) -> LongPass:
        """Run a checked request, keeping q and k of every attention in this precision."""
        row = self.rows.row(request, ())
        ids = torch.tensor([row.ids(self.rows.read)], device=self.device)
        with torch.inference_mode():
            if self.info.kind != "encoder-decoder":
                return LongPass(row.texts, self.long_forward.read(ids, dtype)[0])
            text, tokens = self._wrote(row)
            row = self.rows.with_target(row, tokens)
            target = torch.tensor([row.ids(TARGET)], device=self.device)
            kept, logits = self.long_forward.translate(ids, target, dtype)
        penalty = request.decode.length_penalty
        output = scored(text, tokens, logits[0], self.text.ends, penalty)
        return LongPass(row.texts, kept, output)

    def _translated(self, rows: Sequence[Row]) -> list[Trace]:
        wrote = [self._wrote(row) for row in rows]
        rows = [
            self.rows.with_target(row, tokens) for row, (_, tokens) in zip(rows, wrote, strict=True)
        ]
        recorders = [self._recorder(row) for row in rows]
        tap = BatchTap(recorders)
        read = self.forward.encode(*self.rows.batch(rows, SOURCE), tap)
        logits = self.forward.decode(read, *self.rows.batch(rows, TARGET), tap)
        if any(self._looks(row) for row in rows):
            predicted = [[token.id for token in tokens] for _, tokens in wrote]
            self.inside.look(recorders, rows, predicted)
        return [
            self._trace(
                row,
                recorder,
                scored(*written, own, self.text.ends, row.request.decode.length_penalty),
            )
            for row, recorder, written, own in zip(rows, recorders, wrote, logits, strict=True)
        ]

    def _wrote(self, row: Row) -> tuple[str, tuple[Token, ...]]:
        """Return the output of a row: its target, or the model's own."""
        target = self.rows.target(row.request)
        if target is not None:
            return row.request.target or "", tuple(target)
        return self.text.written(self.steps.ids(row))

    def write(self, request: Request) -> Decoding:
        """Return a decoding, step by step: of a target, or of a text's continuation."""
        row = self.rows.row(request, bind([request], self.run, self.means, self.device)[0])
        limit = self.rows.limit(request, row.texts[self.rows.read])
        limited = replace(request, decode=replace(request.decode, max_tokens=limit))
        texts = {self.rows.read: row.texts[self.rows.read]}
        steps: Iterator[SearchStep] = self.steps.of(replace(row, request=limited))
        return Decoding(self.info, limited, texts, steps)

    def written(self, ids: Sequence[int]) -> tuple[str, tuple[Token, ...]]:
        """Return the text that ids spell, and the ids as its tokens."""
        return self.text.written(ids)

    def token(self, id_: int, *, first: bool = False) -> Token:
        """Return an id as a token without offsets."""
        return self.text.token(id_, first=first)

    def matrices(self, patterns: Sequence[str]) -> dict[str, NamedTensor]:
        """Return the parameters of attentions and networks that match patterns."""
        return {name: read(self._parameters[name]) for name in select(patterns, self._parameters)}

    def _looks(self, row: Row) -> bool:
        return any(pattern.startswith(INSIDE) for pattern in row.request.select)

    def _selected(self, request: Request) -> tuple[str, ...]:
        known = [
            *self.selectable,
            *score_terms.names(self.inside.scores, request.select),
            *self.inside.contrasts(self.info, self.names, request.select),
        ]
        return select(request.select, known)

    def _recorder(self, row: Row) -> Recorder:
        request = row.request
        places = select(request.summarise, self.info.places, "summarise")
        selected = self._selected(request)
        wanted = {*selected, *present(needed(places), self.names)} | self.inside.needed(selected)
        lengths = {text: len(tokens) for text, tokens in row.texts.items()}
        return Recorder(wanted, lengths, row.own, row.made)

    def _trace(self, row: Row, recorder: Recorder, output: Output | None = None) -> Trace:
        request, recorded = row.request, recorder.tensors
        scores = score_terms.look(self.inside.scores, recorder, self.device)
        tensors: dict[str, NamedTensor] = {name: recorded[name] for name in self._selected(request)}
        said = (output.tokens,) if output and len(row.texts) > 1 else ()
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
            scores=scores,
        )


def _ends(model: Any) -> tuple[int, ...] | None:
    """Return the ids at which `generate` stops, of `generation_config`; None: it names none."""
    found = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    if found is None:
        return None
    return (found,) if isinstance(found, int) else tuple(found)
