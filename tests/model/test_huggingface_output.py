"""The output of a model of one text, against the library's own logits and `generate`."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from model.adapters.requests.model_info import CAPABILITIES, REASONS
from model.adapters.requests.request import Decode, Request
from model.adapters.requests.trace import Trace
from model.adapters.sweep import sweep
from model.errors import InputError
from model.trace.interventions import Cell, Intervention
from tests.model.tiny_huggingface import build, make

pytest.importorskip("transformers")

from model.adapters.huggingface.huggingface_adapter import HuggingFace, load_huggingface
from model.adapters.huggingface.models_in_memory import wrap

DECODERS = ["gpt2", "llama", "mistral", "gemma2", "gpt-oss", "deepseek-v3", "bloom"]
TEXT = "The cat sat on the mat."
MASKED = "The [MASK] sat on the [MASK] today."
CHANGES = {
    "off": Intervention("decoder.1.self", "zero", 1),
    "cut": Intervention("decoder.0.self", "cut", 0, (3, 1)),
    "set": Intervention("decoder.0.self", "set", 2, Cell(3, 1, 0.7)),
    "temperature": Intervention("decoder.1.self", "temperature", None, 0.3),
}


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, HuggingFace]:
    root = tmp_path_factory.mktemp("models")
    return {
        name: load_huggingface(make(name, root / name), "cpu")
        for name in [*DECODERS, "bert", "bert-model"]
    }


def logprobs_of(model: Any, ids: list[int]) -> torch.Tensor:
    with torch.no_grad():
        found: torch.Tensor = model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1)
    return found


def ids_of(tokens: Any) -> list[int]:
    return [token.id for token in tokens]


def close(one: Trace, other: Trace) -> None:
    assert ids_of(one.output.tokens) == ids_of(other.output.tokens)
    assert one.output.logprobs == pytest.approx(other.output.logprobs, abs=1e-4)


@pytest.mark.parametrize("name", DECODERS)
def test_rows_score_the_text_and_the_last_one_the_next_token(
    models: dict[str, HuggingFace], name: str
) -> None:
    model = models[name]
    trace = model.trace(TEXT)
    ids, output = ids_of(trace.texts["text"]), trace.output
    expected = logprobs_of(build(name)[0], ids)
    assert ids_of(output.tokens[:-1]) == ids[1:]
    assert output.continues == len(ids) - 1
    never = model.text.never
    assert output.tokens[-1].id == expected[-1].index_fill(0, never, -torch.inf).argmax()
    chosen = expected[range(len(ids)), ids_of(output.tokens)]
    torch.testing.assert_close(torch.tensor(output.logprobs), chosen, atol=1e-4, rtol=0)
    above = (expected > chosen[:, None]).sum(-1) + 1
    assert output.ranks == tuple(above.tolist())
    assert output.score == pytest.approx(
        float(chosen.sum()) / ((5 + len(ids)) / 6) ** 0.6, abs=1e-3
    )


@pytest.mark.parametrize("name", ["gpt2", "llama", "deepseek-v3"])
def test_a_greedy_continuation_is_that_of_generate(
    models: dict[str, HuggingFace], name: str
) -> None:
    model, (theirs, words) = models[name], build(name)
    trace = model.trace(TEXT, decode=Decode(max_tokens=7))
    ids = ids_of(model.texts_of(Request(TEXT))["text"])
    generated = theirs.generate(
        torch.tensor([ids]),
        attention_mask=torch.ones(1, len(ids), dtype=torch.long),
        do_sample=False,
        max_new_tokens=7,
        suppress_tokens=model.text.never.tolist(),
        pad_token_id=words.pad_token_id,
        eos_token_id=words.eos_token_id,
    )[0].tolist()
    written = ids_of(trace.output.tokens[trace.output.continues :])
    assert ids + written == generated
    assert ids_of(trace.texts["text"]) == generated[:-1]
    *_, last = model.decode(TEXT, decode=Decode(max_tokens=7)).steps
    assert last.written[0].ids == tuple(written)
    assert trace.output.logprobs[-len(written) :] == pytest.approx(
        last.written[0].logprobs, abs=1e-4
    )
    expected = logprobs_of(theirs, generated[:-1])
    chosen = expected[range(len(generated) - 1), generated[1:]]
    torch.testing.assert_close(torch.tensor(trace.output.logprobs), chosen, atol=1e-4, rtol=0)


def test_a_continuation_has_the_spans_that_follow_the_text(models: dict[str, HuggingFace]) -> None:
    trace = models["llama"].trace(TEXT, decode=Decode(max_tokens=6))
    output = trace.output
    whole = TEXT + output.text
    for token in output.tokens:
        covered = whole[token.start : token.end]
        assert token.special or token.text.startswith("<0x") or token.text.strip() in covered
    assert trace.texts["text"][1:] == output.tokens[:-1]


def test_a_prefix_is_scored(models: dict[str, HuggingFace]) -> None:
    model = models["llama"]
    ids = ids_of(model.texts_of(Request(TEXT))["text"])
    given = (70, 80, 90)
    trace = model.trace(TEXT, decode=Decode(prefix=given))
    expected = logprobs_of(build("llama")[0], [*ids, *given[:-1]])
    assert ids_of(trace.output.tokens) == [*ids[1:], *given]
    chosen = expected[range(len(expected)), ids_of(trace.output.tokens)]
    torch.testing.assert_close(torch.tensor(trace.output.logprobs), chosen, atol=1e-4, rtol=0)
    more = model.trace(TEXT, decode=Decode(prefix=given, max_tokens=5))
    assert ids_of(more.output.tokens[:-2]) == ids_of(trace.output.tokens)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ["llama", "gpt-oss"])
def test_a_change_is_the_same_alone_padded_and_among_others(
    models: dict[str, HuggingFace], name: str, change: str
) -> None:
    model = models[name]
    request = Request(TEXT, interventions=(CHANGES[change],), decode=Decode(max_tokens=3))
    [alone] = model.run([request])
    [plain] = model.run([replace(request, interventions=())])
    assert alone.output.logprobs != pytest.approx(plain.output.logprobs, abs=1e-3)
    [padded] = model.run([replace(request, pad_to=40)])
    others = [Request("A dog."), request, Request(TEXT * 2, interventions=(CHANGES["off"],))]
    close(alone, padded)
    close(alone, model.run(others)[1])
    # Decoding sees the change in the same places as the trace.
    *_, last = model.decode(request).steps
    written = alone.output.tokens[alone.output.continues :]
    assert last.written[0].ids == tuple(ids_of(written))
    assert alone.output.logprobs[-3:] == pytest.approx(last.written[0].logprobs, abs=1e-4)


def test_a_full_text_still_predicts_a_token(models: dict[str, HuggingFace]) -> None:
    model = models["gpt2"]
    tokens = ids_of(model.texts_of(Request(TEXT))["text"])
    text = TEXT
    while len(tokens) < model.info.max_tokens:
        text += "z"
        tokens = ids_of(model.texts_of(Request(text))["text"])
    trace = model.trace(text, decode=Decode(max_tokens=9))
    assert len(trace.output.tokens) == len(trace.texts["text"]) == model.info.max_tokens
    assert len(list(model.decode(text).steps)) == 1
    with pytest.raises(InputError, match="at most 1"):
        model.trace(text, decode=Decode(prefix=(70, 71)))


def test_masks_are_filled_in_with_their_probability(models: dict[str, HuggingFace]) -> None:
    model, (theirs, words) = models["bert"], build("bert")
    trace = model.trace(MASKED)
    ids = ids_of(trace.texts["text"])
    at = [row for row, id_ in enumerate(ids) if id_ == words.mask_token_id]
    expected = logprobs_of(theirs, ids)[at]
    best = expected.index_fill(1, model.text.never, -torch.inf).argmax(-1)
    assert trace.output.rows == tuple(at)
    assert len(at) == 2
    assert ids_of(trace.output.tokens) == best.tolist()
    torch.testing.assert_close(
        torch.tensor(trace.output.logprobs), expected[[0, 1], best], atol=1e-4, rtol=0
    )
    one, other = (token.text.strip() for token in trace.output.tokens)
    assert trace.output.text == f"The {one} sat on the {other} today."
    given = model.trace(MASKED, decode=Decode(prefix=(70,)))
    assert ids_of(given.output.tokens) == [70, int(best[1])]
    assert given.output.logprobs[0] == pytest.approx(float(expected[0, 70]), abs=1e-4)
    with pytest.raises(InputError, match="at most 2"):
        model.trace(MASKED, decode=Decode(prefix=(70, 71, 72)))


def test_without_a_mask_or_a_head_there_is_no_output(models: dict[str, HuggingFace]) -> None:
    assert models["bert"].trace(TEXT).written is None
    assert models["bert-model"].trace(TEXT).written is None
    assert "sweep" not in models["bert-model"].info.capabilities
    with pytest.raises(InputError, match=r"must contain \[MASK\]") as caught:
        sweep(models["bert"], Request(TEXT))
    assert (caught.value.kind, caught.value.field) == ("no-mask", "text")


@pytest.mark.parametrize(
    ("name", "request_"),
    [
        ("llama", Request(TEXT)),
        ("llama", Request(TEXT, decode=Decode(max_tokens=4))),
        ("gpt-oss", Request(TEXT, interventions=(CHANGES["off"],))),
        ("bert", Request(MASKED)),
    ],
)
def test_a_sweep_is_a_run_without_each_head(
    models: dict[str, HuggingFace], name: str, request_: Request
) -> None:
    model = models[name]
    swept = sweep(model, request_)
    base = swept.base.output
    logits = f"{model.info.attentions[0].stack}.logits"
    plain = model.trace(replace(request_, select=(logits,)))
    written = tuple(ids_of(base.tokens[base.continues :]))
    p = torch.as_tensor(plain[logits].value).log_softmax(-1)
    for one in (one for batch in swept.batches for one in batch):
        off = Intervention(one.at, "zero", one.head)
        forced = Decode(prefix=written, max_tokens=len(written))
        alone = model.trace(
            replace(request_, interventions=(*request_.interventions, off), decode=forced),
            select=(logits,),
        )
        q = torch.as_tensor(alone[logits].value).log_softmax(-1)
        rows = [base.row(index) for index in range(len(base.tokens))]
        before = p[rows, ids_of(base.tokens)]
        after = q[rows, ids_of(base.tokens)]
        torch.testing.assert_close(torch.tensor(one.delta), after - before, atol=1e-4, rtol=0)
        kl = (p.exp() * (p - q)).sum(-1)[rows]
        torch.testing.assert_close(torch.tensor(one.divergence), kl, atol=1e-4, rtol=0)


def test_each_missing_capability_has_its_reason(models: dict[str, HuggingFace]) -> None:
    for model in models.values():
        info = model.info
        assert info.missing.keys() == CAPABILITIES.keys() - info.capabilities
        assert set(info.missing.values()) <= REASONS.keys()
    assert models["bloom"].info.missing["sweep"] == "weights-only"
    assert models["bert-model"].info.missing["sweep"] == "no-head"
    assert models["bert"].info.missing["decode"] == "reads-only"
    assert models["bert"].info.missing["contributions"] == "not-a-sum"
    assert models["llama"].info.missing["alignment"] == "one-text"
    with pytest.raises(InputError, match="sweeps over its heads, because only the weights"):
        sweep(models["bloom"], Request(TEXT))


def test_a_model_in_memory_has_an_output() -> None:
    theirs, words = build("llama")
    trace = wrap(theirs, words).trace(TEXT)
    expected = logprobs_of(theirs, ids_of(trace.texts["text"]))
    assert trace.output.logprobs[-1] == pytest.approx(
        float(expected[-1, trace.output.tokens[-1].id]), abs=1e-4
    )
