"""The adapter interface: models of one text trace, decode and take interventions like others."""

import math
import pickle
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from model.adapters.requests.request import Decode, Method, Request
from model.errors import InputError
from model.trace.interventions import Intervention
from tests.model.decoder_only import OneText

SENTENCES = ["The cat sat", "我不知道她是谁。", "A", "I don't know who she is, and it didn't stop."]
KINDS = ["decoder", "encoder"]


@pytest.fixture(scope="module", params=KINDS)
def model(request: pytest.FixtureRequest) -> OneText:
    return OneText(request.param)


@pytest.fixture(scope="module")
def decoder() -> OneText:
    return OneText("decoder")


def torchs(model: OneText, ids: list[int]) -> tuple[Tensor, list[Tensor]]:
    """Return the last output (N, D) and each layer's weights (H, N, N), by torch's functions."""
    width, heads = model.model.config.d_model, model.model.config.heads
    matrix = model.model.embedding.weight
    even = torch.arange(0, width, 2, dtype=torch.float64)
    angle = torch.arange(len(ids))[:, None] / 10000 ** (even / width)
    positions = torch.stack([angle.sin(), angle.cos()], -1).flatten(1).float()
    x = (F.embedding(torch.tensor(ids), matrix) * math.sqrt(width) + positions)[:, None]
    later = torch.ones(len(ids), len(ids), dtype=torch.bool).triu(1)
    weights = []
    for layer in model.model.layers:
        own: Any = layer
        a = own.self_attention
        mixed, seen = F.multi_head_attention_forward(
            query=x,
            key=x,
            value=x,
            embed_dim_to_check=width,
            num_heads=heads,
            in_proj_weight=torch.cat([a.W_q.weight, a.W_k.weight, a.W_v.weight]),
            in_proj_bias=torch.cat([a.W_q.bias, a.W_k.bias, a.W_v.bias]),
            bias_k=None,
            bias_v=None,
            add_zero_attn=False,
            dropout_p=0.0,
            out_proj_weight=a.W_o.weight,
            out_proj_bias=a.W_o.bias,
            training=False,
            need_weights=True,
            attn_mask=later if model.info.kind == "decoder" else None,
            average_attn_weights=False,
        )
        assert seen is not None
        weights.append(seen[0])
        x = F.layer_norm(x + mixed, (width,), own.self_norm.norm.weight, own.self_norm.norm.bias)
        hidden = F.linear(x, own.ffn.W_1.weight, own.ffn.W_1.bias).relu()
        added = F.linear(hidden, own.ffn.W_2.weight, own.ffn.W_2.bias)
        x = F.layer_norm(x + added, (width,), own.ffn_norm.norm.weight, own.ffn_norm.norm.bias)
    return x[:, 0], weights


@pytest.mark.parametrize("text", SENTENCES)
def test_its_numbers_are_torchs(model: OneText, text: str) -> None:
    trace = model.trace(text, select=["*"])
    with torch.no_grad():
        stream, weights = torchs(model, [token.id for token in trace.texts["text"]])
    for attention, expected in zip(model.info.attentions, weights, strict=True):
        found = trace[f"{attention.place}.weights"]
        torch.testing.assert_close(found.value, expected, atol=1e-5, rtol=0)
        assert found.over == attention.over == {"query": "text", "key": "text"}
    if model.info.kind == "decoder":
        best = (stream @ model.model.embedding.weight.T).softmax(-1).topk(10).values
        torch.testing.assert_close(
            trace["decoder.probabilities"].value, best.detach(), atol=1e-4, rtol=1e-3
        )


def test_results_are_equal_alone_batched_and_padded(model: OneText) -> None:
    requests = [Request(text, select=("*",), summarise=("*",)) for text in SENTENCES]
    for request, together in zip(requests, model.run(requests), strict=True):
        alone, padded = model.trace(request), model.trace(request, pad_to=40)
        assert len(padded.texts["text"]) == 40
        assert together.texts == alone.texts
        for name, tensor in alone.tensors.items():
            if name.endswith("candidates"):
                continue
            cut = tuple(slice(size) for size in tensor.shape)
            for other in (together[name].value, padded[name].value[cut]):
                torch.testing.assert_close(other, tensor.value, atol=1e-4, rtol=1e-4, msg=name)
        for place, summary in alone.summaries.items():
            assert list(padded.summaries[place].patterns) == list(summary.patterns)


def test_its_description(model: OneText) -> None:
    kind = model.info.kind
    assert model.info.texts == ("text",)
    assert (model.info.layers, model.info.heads) == ({kind: 2}, {kind: 4})
    trace = model.trace("The cat sat")
    assert list(trace) == [f"{kind}.0.self.weights", f"{kind}.1.self.weights"]
    assert (trace.written, trace.direction) == (None, None)
    assert str(trace).splitlines()[:2] == [f"Trace of {kind}", "  The cat sat"]
    with pytest.raises(LookupError, match="only read the text"):
        _ = trace.output
    arrived = pickle.loads(pickle.dumps(trace))
    assert arrived == trace


def test_greedy_continuation_is_the_most_probable(decoder: OneText) -> None:
    *_, last = decoder.decode("The cat", decode=Decode(max_tokens=6)).steps
    [written] = last.written
    ids = [token.id for token in decoder.trace("The cat").texts["text"]]
    for id_, logprob in zip(written.ids, written.logprobs, strict=True):
        with torch.no_grad():
            stream, _ = torchs(decoder, ids)
            expected = (stream[-1] @ decoder.model.embedding.weight.T).log_softmax(-1)
        assert int(expected.argmax()) == id_
        assert logprob == pytest.approx(float(expected[id_]), abs=1e-4)
        ids.append(id_)


@pytest.mark.parametrize("method", ["beam", "sample"])
def test_every_search_goes_on(decoder: OneText, method: Method) -> None:
    steps = list(decoder.decode("The cat", decode=Decode(method, beam=3, max_tokens=5)).steps)
    greedy = list(decoder.decode("The cat", decode=Decode(max_tokens=5)).steps)
    best = steps[-1].written[0]
    assert len(best.ids) <= 5
    if method == "beam":
        assert best.score(0.6) >= greedy[-1].written[0].score(0.6) - 1e-5


def test_a_hidden_token_gets_no_attention(model: OneText) -> None:
    hidden = (Intervention("text", "mask", value=1),)
    trace = model.trace("The cat sat", select="*", interventions=hidden)
    for attention in model.info.attentions:
        assert not trace[f"{attention.place}.mask"].value[:, 1].any()
        assert not trace[f"{attention.place}.weights"].value[:, :, 1].any()


def test_decoding_applies_the_interventions(decoder: OneText) -> None:
    for made in (Intervention("text", "mask", value=1), Intervention("decoder.0.self", "zero", 2)):
        *_, last = decoder.decode("The cat", interventions=[made]).steps
        [written] = last.written
        text = Request("The cat", select=("decoder.logits",), interventions=(made,))
        logprobs = decoder.trace(text)["decoder.logits"].value[-1].log_softmax(-1)
        assert written.logprobs[0] == pytest.approx(float(logprobs.max()), abs=1e-5)
        *_, plain = decoder.decode("The cat").steps
        assert written.logprobs != plain.written[0].logprobs


def test_only_what_is_there_from_the_start_is_shuffled(model: OneText) -> None:
    shuffled = Intervention("text.position", "shuffle", value=3)
    if model.info.kind == "encoder":
        changed = model.trace("The cat sat", select="*.position", interventions=[shuffled])
        plain = model.trace("The cat sat", select="*.position")
        assert changed != plain
        return
    with pytest.raises(InputError) as caught:
        model.trace("The cat sat", interventions=[shuffled])
    assert caught.value.kind == "unknown-place"


@pytest.mark.parametrize(
    ("options", "kind", "field"),
    [
        ({"target": "猫"}, "unsupported", "target"),
        ({"select": "inside.lens.rank"}, "unsupported", "select[0]"),
        (
            {"interventions": [Intervention("decoder.0.self", "mean", 0)]},
            "no-means",
            "interventions[0].do",
        ),
        (
            {"interventions": [Intervention("source", "mask", value=0)]},
            "unknown-place",
            "interventions[0].at",
        ),
    ],
)
def test_unsupported_requests_are_named(
    decoder: OneText, options: dict[str, Any], kind: str, field: str
) -> None:
    with pytest.raises(InputError) as caught:
        decoder.trace("The cat", **options)
    assert (caught.value.kind, caught.value.field) == (kind, field)


def test_an_encoder_writes_nothing() -> None:
    with pytest.raises(InputError, match=r"this model cannot write a text"):
        OneText("encoder").decode("The cat")
