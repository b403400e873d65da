"""The cases, each of which is two ways of doing the same thing with one model."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor, nn

from app.engine.reply_formats import trace_reply
from bench.compare import Case
from bench.training import training
from model.adapters.encoder_decoder.adapter import EncoderDecoder
from model.adapters.encoder_decoder.drafts import open_drafter
from model.adapters.requests.request import Decode, Request
from model.adapters.requests.trace import Trace
from model.adapters.sweep import sweep
from model.bundle.weights import Bundle
from model.decode.greedy_and_sampling import Reader
from model.lab.compute import compute
from model.lab.request import LabRequest
from model.text.tokens import Token
from model.trace.interventions import Intervention
from model.trace.tensor_names import select
from model.trace.tensor_tap import NULL, BatchTap, Recorder, Tap
from model.transformer.stacks import Transformer

SENTENCE = "The animal didn't cross the street because it was too tired to walk any further."
TARGET = "那只动物没有过马路，因为它太累了，走不动了。"
SHORT = "The old animal didn't cross the street because it was too tired."
SHORT_TARGET = "动物没有过马路，因为它很累了。"
DECODED = 48  # tokens, even if the sentence ends earlier
BATCH = 8


def cases(bundle: Bundle) -> Iterator[Case]:
    """Yield the cases in the order of the table."""
    adapter = EncoderDecoder(bundle, bundle.name)
    request = Request(SENTENCE, target=TARGET)
    trace = adapter.trace(request, select="*")
    source, target = _ids(trace.texts["source"]), _ids(trace.texts["target"])
    yield from _taps(bundle.model, adapter, source, target)
    yield from _kernels(bundle.model)
    yield Case(
        f"greedy decoding, {DECODED} tokens: no cache / cache",
        partial(_decode, bundle, source, cached=False),
        partial(_decode, bundle, source, cached=True),
    )
    yield Case(
        f"{BATCH} traces: one by one / in one batch",
        lambda: [adapter.trace(request) for _ in range(BATCH)],
        lambda: adapter.run([request] * BATCH),
    )
    yield from _drafts(bundle)
    yield _changed(adapter)
    yield _sweep(adapter)
    yield from training(bundle.model)
    yield _lab()
    reply = trace_reply(trace, "", bundle.name)
    yield Case("writing a reply of everything: JSON / safetensors", reply.json, reply.safetensors)


def sizes(bundle: Bundle) -> dict[str, tuple[int, int]]:
    """Return the bytes of a reply as JSON and as safetensors, by selection and number format."""
    adapter = EncoderDecoder(bundle, bundle.name)
    request = Request(SENTENCE, target=TARGET)
    everything = adapter.trace(request, select="*")
    weights = _only(everything, ".weights")
    replies = {
        "all weights, float32": trace_reply(weights, "", bundle.name),
        "all weights, float16": trace_reply(weights, "", bundle.name, "float16"),
        "all weights, uint8": trace_reply(weights, "", bundle.name, "uint8"),
        "everything, float32": trace_reply(everything, "", bundle.name),
    }
    return {name: (len(reply.json()), len(reply.safetensors())) for name, reply in replies.items()}


def _only(trace: Trace, suffix: str) -> Trace:
    chosen = {name: value for name, value in trace.tensors.items() if name.endswith(suffix)}
    return replace(trace, tensors=chosen)


def _taps(
    model: Transformer, adapter: EncoderDecoder, source: Tensor, target: Tensor
) -> Iterator[Case]:
    for pattern, words in (("*.weights", "all weights"), ("*", "everything")):
        names = select([pattern], adapter.names)
        yield Case(
            f"one pass: recording {words} / null tap",
            partial(_record, model, source, target, names),
            partial(_run, model, source, target),
        )


def _kernels(model: Transformer) -> Iterator[Case]:
    fused = Transformer(replace(model.config, kernel="fused")).eval()
    fused.load_state_dict(model.state_dict())
    for batch, length in ((1, 16), (BATCH, model.config.max_tokens)):
        ids = torch.randint(model.config.vocabulary, (batch, length))
        yield Case(
            f"one pass, {batch} × {length} tokens: explicit / fused attention",
            partial(_run, model, ids, ids),
            partial(_run, fused, ids, ids),
        )


def _drafts(bundle: Bundle) -> Iterator[Case]:
    """Decode sentences of several lengths without and with drafts, if CTranslate2 is installed."""
    words, seeds = SENTENCE.split(), count()
    with TemporaryDirectory() as cache:
        drafter = open_drafter(bundle, Path(cache))
        models = EncoderDecoder(bundle, "decoded"), EncoderDecoder(bundle, "drafted", None, drafter)

        def translate(model: EncoderDecoder, sources: Sequence[str]) -> None:
            # A new seed makes this a new request, which is not cached.
            model.run([Request(source, decode=Decode(seed=next(seeds))) for source in sources])

        for sources in ([SENTENCE], [" ".join(words[end:]) for end in range(BATCH)]):
            if drafter:
                decoded, drafted = (partial(translate, model, sources) for model in models)
                yield Case(
                    f"translations, {len(sources)} at once: decoded / drafted", decoded, drafted
                )


def _changed(adapter: EncoderDecoder) -> Case:
    """Run a batch with heads off in every row and attention, and the same batch without."""
    places = [name.removesuffix(".weights") for name in adapter.names if name.endswith(".weights")]
    rows = 8 * BATCH
    off = [tuple(Intervention(place, "zero", row % 8) for place in places) for row in range(rows)]
    request = Request(SHORT, target=SHORT_TARGET, select=())
    return Case(
        f"{rows} traces in one batch: a head off in each attention of each / none",
        lambda: adapter.run(
            [replace(request, interventions=interventions) for interventions in off]
        ),
        lambda: adapter.run([request] * rows),
    )


def _sweep(adapter: EncoderDecoder) -> Case:
    """Sweep over all heads, and read as many rows in one batch of the bare model."""
    request = Request(SHORT, target=SHORT_TARGET)
    swept = sweep(adapter, request)
    sides = (_ids(side).expand(swept.changes, -1) for side in swept.base.texts.values())
    source, target = sides
    read = f"{source.shape[1]} and {target.shape[1]} tokens"
    return Case(
        f"a sweep over {swept.changes} heads, {read}: the sweep / one pass of {swept.changes} rows",
        lambda: list(sweep(adapter, request).batches),
        partial(_run, adapter.model, source, target),
    )


def _lab() -> Case:
    """Compute a layer and a loss in the lab, and the layer alone with torch's module."""

    def drawn(rows: int, cols: int) -> list[list[float]]:
        return [torch.randn(cols).tolist() for _ in range(rows)]

    request = LabRequest(
        x=drawn(8, 8),
        w_q=drawn(8, 8),
        w_k=drawn(8, 8),
        w_v=drawn(8, 8),
        w_o=drawn(8, 8),
        heads=2,
        mask="causal",
        norm="post",
        w_1=drawn(8, 16),
        w_2=drawn(16, 8),
        w_vocab=drawn(8, 8),
        targets=list(range(8)),
        label_smoothing=0.1,
    )
    x = torch.tensor(request.x, dtype=torch.float64)[None]
    layer = nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True, dtype=torch.float64)
    return Case(
        f"the lab's {len(compute(request).steps)} steps, 8 × 8 / the layer of torch.nn in them",
        partial(compute, request),
        partial(layer, x),
    )


def _ids(tokens: Sequence[Token]) -> Tensor:
    return torch.tensor([[token.id for token in tokens]])


@torch.inference_mode()
def _run(model: Transformer, source: Tensor, target: Tensor, tap: Tap = NULL) -> Tensor:
    logits: Tensor = model(source, target, tap=tap)
    return logits


def _record(model: Transformer, source: Tensor, target: Tensor, names: Sequence[str]) -> Tensor:
    return _run(model, source, target, BatchTap([Recorder(names)]))


@torch.inference_mode()
def _decode(bundle: Bundle, source: Tensor, *, cached: bool) -> Tensor:
    real = torch.ones_like(source, dtype=torch.bool)
    reader = Reader(bundle.model, bundle.tokenizer, source, real, cached=cached)
    for _ in range(DECODED):
        reader.append(reader.logprobs().argmax(dim=-1))
    return reader.read
