"""The adapter of a model of the `transformers` library: its description, its means, its answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any, Literal

import torch
from torch import Tensor, nn

from model.adapters.huggingface.attention_probing import Layout, draw_ids, probe
from model.adapters.huggingface.batch_rows import (
    LONG,
    RequestRow,
    RowMaker,
    mixes_positions,
    model_types,
    validate,
)
from model.adapters.huggingface.decoding import Decoder, OneTextOutput
from model.adapters.huggingface.explaining import InsideTensors
from model.adapters.huggingface.forward_passes import Forward, LongForward
from model.adapters.huggingface.open_folder import OpenedModel, open_folder
from model.adapters.huggingface.parameters import read_parameter
from model.adapters.huggingface.recorded_attention import shared_copy
from model.adapters.huggingface.tokenizer import TextTokenizer
from model.adapters.huggingface.unsupported_models import input_embeddings, vocabulary
from model.adapters.requests.adapter_interface import Adapter
from model.adapters.requests.bind_interventions import bind
from model.adapters.requests.model_info import CAPABILITIES, ModelInfo
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Decoding, LongPass, Output, Trace, candidates, scored
from model.decode.decoding_steps import SearchStep
from model.device import choose_device
from model.errors import InputError
from model.explain import score_terms
from model.explain.patterns import needed, summary
from model.file_reading import reading
from model.text.tokens import Token
from model.trace.tensor_names import INSIDE, present, select
from model.trace.tensor_tap import SOURCE, TARGET, BatchTap, NamedTensor, Recorder

NO_MAXIMUM = 1_000_000  # a tokenizer's maximum of this or more means that it has none

DEFAULT_LENGTH = 512  # maximum for a model that does not state one

LENGTHS = (
    "max_position_embeddings",
    "n_positions",
    "max_sequence_length",
    "max_seq_len",
    "seq_length",
)


def info_of(opened: OpenedModel, id_: str, layout: Layout, writes: bool) -> ModelInfo:
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
        d_model=getattr(config, "hidden_size", None)
        or input_embeddings(opened.model).embedding_dim,
        parameters=sum(parameter.numel() for parameter in opened.model.parameters()),
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


NO_PAIR = {"decoder": "reads-on", "encoder-decoder": "source-and-target"}  # by kind


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
    lacking = CAPABILITIES.keys() - info.capabilities - {"pair"}
    return {name: reasons[name] for name in sorted(lacking)}


def _length(model: nn.Module, config: Any, tokenizer: Any) -> int:
    """Return the maximum number of tokens that both the positions and the tokenizer allow."""
    stated = [getattr(config, name, None) for name in LENGTHS]
    limits = [length for length in stated if isinstance(length, int) and length > 0]
    for name, module in model.named_modules():
        # In RoBERTa and similar models, positions start after that of padding.
        learned = name.endswith("position_embeddings") and isinstance(module, nn.Embedding)
        if learned and module.padding_idx is not None:
            limits.append(module.num_embeddings - module.padding_idx - 1)
    if tokenizer.model_max_length < NO_MAXIMUM:
        limits.append(tokenizer.model_max_length)
    return min(limits, default=DEFAULT_LENGTH)


MIX = ".mix"

SENTENCES = (
    "The river is frozen, so the boats stay in the harbour until spring.",
    "She asked whether the train to the coast was late again.",
    "Two plus three is five, and five plus five is ten.",
    "After the concert, everyone walked home through the rain.",
    "He bought bread, cheese and apples at the market.",
    "In 1969 people walked on the moon for the first time.",
    "Please close the window before you leave the office.",
    "Most birds build their nests in early summer.",
)


class MeanOutputs(Mapping[str, Tensor]):
    """The mean output (H, d_v) of each head by name, such as "decoder.0.self.mix".

    A folder contains no means, and no data to measure them on. They are computed once, when they
    are first asked for, over the tokens of the model's example texts and of `SENTENCES`; for an
    encoder–decoder, over those of its own outputs. They are computed anew after a parameter of the
    model has changed. Source: mean ablation as in Wang et al. 2022, Interpretability in the Wild.
    """

    def __init__(
        self,
        model: Any,
        names: Sequence[str],
        prompts: Sequence[str],
        run: Callable[[Sequence[Request]], list[Trace]],
        takes: Callable[[Request], bool],
    ) -> None:
        self.model = model
        self.names = [name for name in names if name.endswith(MIX)]
        self.texts = [*prompts, *SENTENCES]
        self.run = run
        self.takes = takes
        self._known: tuple[int, dict[str, Tensor]] | None = None
        self._lock = RLock()

    def __getitem__(self, name: str) -> Tensor:
        with self._lock:
            version = sum(parameter._version for parameter in self.model.parameters())
            if self._known is None or self._known[0] != version:
                self._known = version, self._means()
            return self._known[1][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def _means(self) -> dict[str, Tensor]:
        requests = [Request(text, select=tuple(self.names)) for text in self.texts]
        sums: dict[str, Tensor] = {}
        counts: dict[str, int] = {}
        for request in filter(self.takes, requests):
            [trace] = self.run([request])
            for name in self.names:
                mix = trace[name].value.double()  # (H, N, d_v)
                sums[name] = sums.get(name, torch.zeros(())) + mix.sum(dim=1)
                counts[name] = counts.get(name, 0) + mix.shape[1]
        device = self.model.device
        return {name: (total / counts[name]).float().to(device) for name, total in sums.items()}


def load_huggingface(
    folder: str | Path,
    device: str = "auto",
    id_: str | None = None,
    dtype: str | None = None,
    name: str = "",
) -> HuggingFace:
    """Load a model from a folder in the format of `save_pretrained`.

    `device` is "auto" (CUDA if there is one), "cpu", "cuda" or "mps"; `dtype` is one of `DTYPES`;
    `name` is its name if the folder gives none. Raises `FileError` for a folder that cannot be read
    or served, and `ValueError` for another device or dtype.
    """
    opened = open_folder(Path(folder), choose_device(device), dtype, name)
    with reading(Path(folder)):
        return HuggingFace(opened, id_ or opened.name)


class HuggingFace(Adapter):
    """A model of one text, or of a source and a target, behind the `Adapter` interface."""

    def __init__(self, opened: OpenedModel, id_: str) -> None:
        self.model = opened.model
        self.device = self.model.device
        layout = probe(self.model)
        writes = self.model.get_output_embeddings() is not None
        self.route = layout.route
        streaming = shared_copy(self.model)
        self.forward = Forward(self.model, streaming, layout, writes)
        self.long_forward = LongForward(self.model, layout)
        self.inside = InsideTensors(streaming, layout, self.forward, writes)
        info = info_of(opened, id_, layout, writes)
        stream = self.inside.stream
        self.stream = stream if stream is not None and stream.exact else None
        able = self.inside.capabilities(info.kind)
        if self.long_forward.works():
            able.add("long")
        self.text = TextTokenizer(
            opened.tokenizer,
            info.vocabulary,
            info.kind == "decoder",
            _ends(self.model),
            getattr(input_embeddings(self.model), "num_embeddings", None),
        )
        if info.kind == "decoder" and writes and not self.text.chat.missing:
            able.add("chat")
        if not mixes_positions(self.forward, draw_ids(self.model, LONG)[0], self.text.pad):
            able.add("padding")
        no_pair = NO_PAIR.get(info.kind) or self.text.pair_missing(model_types(self.model))
        if not no_pair:
            able.add("pair")
        self.info = replace(
            info,
            attentions=tuple(self.inside.described(attention) for attention in info.attentions),
            networks=tuple(network.info for network in self.inside.networks.values()),
            norm=self.inside.norm,
            positions=self.inside.positions,
            capabilities=info.capabilities | able,
        )
        chat = self.text.chat.missing or "no-head"
        why = missing(self.info, writes, self.route == "recorded", chat)
        self.info = replace(self.info, missing=why | ({"pair": no_pair} if no_pair else {}))
        self.names = self.forward.names()
        self.selectable = [*self.names, *self.inside.names(self.info, self.names)]
        self._parameters = self.inside.parameters()
        self.rows = RowMaker(self.model, self.text, self.info)
        self.steps = Decoder(self.model, self.forward, self.rows, layout.route == "recorded")
        self.means = MeanOutputs(self.model, list(self.names), info.prompts, self.run, self.takes)
        self.predicting = OneTextOutput(self.rows, self.steps, writes)

    def validate(self, request: Request) -> None:
        """Raise `InputError` for the first field that is invalid for this model."""
        self._selected(request)
        if request.interventions and self.route != "recorded":
            detail = "interventions: the attention of this model cannot be changed"
            raise InputError("unsupported", "interventions", detail)
        validate(self, self.rows, request, self.names)

    def run(self, requests: Sequence[Request]) -> list[Trace]:
        """Run and record all requests as one batch; decode a missing target first.

        A model that cannot read padding runs one request after the other.
        """
        if len(requests) > 1 and "padding" not in self.info.capabilities:
            return [trace for request in requests for trace in self.run([request])]
        with torch.inference_mode():
            bound = bind(requests, self.run, self.means, self.device)
            rows = [self.rows.row(*pair) for pair in zip(requests, bound, strict=True)]
            if self.info.kind == "encoder-decoder":
                return self._translated(rows)
            return self._predicted([self.predicting.continued(row) for row in rows])

    def _predicted(self, rows: Sequence[RequestRow]) -> list[Trace]:
        """Run rows of a model of one text."""
        recorders = [self._recorder(row) for row in rows]
        ids, real = self.rows.batch(rows, self.rows.read)
        types = self.rows.batch_types(rows)
        logits = self.forward.read(ids, real, BatchTap(recorders), types=types)
        outputs = [self.predicting.output(*pair) for pair in zip(rows, logits, strict=True)]
        if any(self._looks(row) for row in rows):
            predicted = [
                self.predicting.predicted(*pair) for pair in zip(rows, outputs, strict=True)
            ]
            self.inside.look(recorders, rows, predicted)
        return [self._trace(*columns) for columns in zip(rows, recorders, outputs, strict=True)]

    def texts_of(self, request: Request) -> dict[str, tuple[Token, ...]]:
        """Return the tokens of the text, and of a target that is given as it is read."""
        return self.rows.texts_of(request)

    def read_long(self, request: Request, dtype: torch.dtype) -> LongPass:
        """Run a checked request, keeping q and k of every attention in this precision."""
        row = self.rows.row(request, ())
        ids = torch.tensor([row.ids(self.rows.read)], device=self.device)
        with torch.inference_mode():
            if self.info.kind != "encoder-decoder":
                types = self.rows.batch_types([row])
                return LongPass(row.texts, self.long_forward.read(ids, dtype, types)[0])
            text, tokens = self._wrote(row)
            row = self.rows.with_target(row, tokens)
            target = torch.tensor([row.ids(TARGET)], device=self.device)
            attentions, logits = self.long_forward.translate(ids, target, dtype)
        penalty = request.decode.length_penalty
        output = scored(text, tokens, logits[0], self.text.ends, penalty)
        return LongPass(row.texts, attentions, output)

    def _translated(self, rows: Sequence[RequestRow]) -> list[Trace]:
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
                scored(*written, row_logits, self.text.ends, row.request.decode.length_penalty),
            )
            for row, recorder, written, row_logits in zip(
                rows, recorders, wrote, logits, strict=True
            )
        ]

    def _wrote(self, row: RequestRow) -> tuple[str, tuple[Token, ...]]:
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
        return {
            name: read_parameter(self._parameters[name])
            for name in select(patterns, self._parameters)
        }

    def _looks(self, row: RequestRow) -> bool:
        return any(pattern.startswith(INSIDE) for pattern in row.request.select)

    def _selected(self, request: Request) -> tuple[str, ...]:
        selectable = [
            *self.selectable,
            *score_terms.names(self.inside.scores, request.select),
            *self.inside.contrasts(self.info, self.names, request.select),
        ]
        return select(request.select, selectable)

    def _recorder(self, row: RequestRow) -> Recorder:
        request = row.request
        places = select(request.summarise, self.info.places, "summarise")
        selected = self._selected(request)
        recorded = {*selected, *present(needed(places), self.names)} | self.inside.needed(selected)
        lengths = {text: len(tokens) for text, tokens in row.texts.items()}
        return Recorder(recorded, lengths, row.own, row.made)

    def _trace(self, row: RequestRow, recorder: Recorder, output: Output | None = None) -> Trace:
        request, recorded = row.request, recorder.tensors
        scores = score_terms.look(self.inside.scores, recorder, self.device)
        self.inside.look_at_embeddings(recorder, row.texts)
        tensors: dict[str, NamedTensor] = {name: recorded[name] for name in self._selected(request)}
        written = (output.tokens,) if output and len(row.texts) > 1 else ()
        return Trace(
            model=self.info,
            request=request,
            texts=row.texts,
            tensors=tensors,
            written=output,
            summaries={
                place: summary(place, recorded, row.texts, *written)
                for place in select(request.summarise, self.info.places, "summarise")
            },
            pieces={id_: self.token(id_) for id_ in candidates(tensors)},
            scores=scores,
        )


def _ends(model: Any) -> tuple[int, ...] | None:
    """Return the ids at which `generate` stops, of `generation_config`; None: it names none."""
    ends = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    if ends is None:
        return None
    return (ends,) if isinstance(ends, int) else tuple(ends)
