"""Models of `transformers` that a program has in memory: shown, served, wrapped, never changed."""

import copy
import json
import re
import urllib.request
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import headlight
from app.assets.static_files import Vendor
from app.engine.reply_formats import Reply
from headlight import AttentionWarning, Request, Shown
from model.errors import InputError
from tests.handouts.test_handout import trace_in
from tests.model.tiny_huggingface import build

hf: Any = pytest.importorskip("transformers")
TEXT = "The cat sat on the mat."
NAMES = ["bert", "llama", "t5", "bloom", "albert"]


def state(model: Any) -> tuple[Any, ...]:
    """Return what of a model must not change."""
    parts = [(type(one), one.training, sorted(vars(one))) for one in model.modules()]
    kept = [(id(one), one.detach().clone()) for one in model.state_dict(keep_vars=True).values()]
    return model.config.to_dict(), model.config._attn_implementation, parts, kept


def same(one: Any, other: Any) -> bool:
    *told, tensors = one
    *others, kept = other
    return told == others and all(
        a == b and torch.equal(x, y) for (a, x), (b, y) in zip(tensors, kept, strict=True)
    )


@pytest.mark.parametrize("name", NAMES)
def test_a_model_is_shown_and_left_as_it_was(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = build(name)
    model.train()
    monkeypatch.chdir(tmp_path)
    before = state(model)
    shown = headlight.show(model, tokenizer, TEXT)
    assert same(before, state(model))
    assert not list(tmp_path.iterdir())
    reply = Reply.parse(trace_in(shown.html.decode()))
    with torch.inference_mode():
        other = copy.deepcopy(model).eval()
        other.set_attn_implementation("eager")
        given = {"input_ids": tokenizer(TEXT, return_tensors="pt").input_ids}
        if model.config.is_encoder_decoder:
            target = [token["id"] for token in reply.document["tokens"]["target"]]
            given["decoder_input_ids"] = torch.tensor([target])
        out = other(**given, output_attentions=True)
    stack = "encoder" if "encoder.0.self.weights" in reply.arrays else "decoder"
    own = out.get("attentions") or out["encoder_attentions"]
    for layer, expected in enumerate(own):
        array = reply.arrays[f"{stack}.{layer}.self.weights"]
        np.testing.assert_allclose(array, expected[0], atol=1e-5)


def test_two_sentences_are_a_pair() -> None:
    model, tokenizer = build("bert")
    shown = headlight.show(model, tokenizer, "The cat", "a dog ran")
    reply = Reply.parse(trace_in(shown.html.decode()))
    read = [token["id"] for token in reply.document["tokens"]["text"]]
    assert read == tokenizer("The cat", "a dog ran")["input_ids"]
    adapter = headlight.wrap(model, tokenizer)
    again = headlight.show(adapter, "The cat", "a dog ran")
    reply_again = Reply.parse(trace_in(again.html.decode()))
    assert reply_again.document["tokens"] == reply.document["tokens"]
    assert shown.content is not None
    assert shown.content.about["state"]["pair"] == "a dog ran"


def test_a_model_that_reads_no_pair_says_so() -> None:
    model, tokenizer = build("llama")
    with pytest.raises(InputError, match=r"reads no pair of texts, because .*LlamaForCausalLM"):
        headlight.show(model, tokenizer, "The cat", "a dog ran")


def test_a_model_that_fails_is_left_as_it_was() -> None:
    model, tokenizer = build("llama")
    model.train()

    def fail(*_: Any) -> None:
        raise ZeroDivisionError

    hook = model.model.layers[0].register_forward_hook(fail)
    before = state(model)
    with pytest.raises(ValueError, match=r"LlamaForCausalLM .* \(ZeroDivisionError\)"):
        headlight.show(model, tokenizer, TEXT)
    assert same(before, state(model))
    hook.remove()
    assert isinstance(headlight.show(model, tokenizer, TEXT), Shown)


def test_parameters_are_shared_and_later_changes_seen() -> None:
    model, tokenizer = build("bert")
    wrapped = headlight.wrap(model, tokenizer, "mine")
    assert wrapped.info.id == "mine"
    twin: Any = wrapped
    assert [id(one) for one in twin.model.parameters()] == [id(one) for one in model.parameters()]
    name = "encoder.0.self.weights"
    before = wrapped.trace(TEXT)[name].value
    with torch.no_grad():
        model.bert.encoder.layer[0].attention.self.query.weight.mul_(3)
    after: Tensor = wrapped.trace(TEXT)[name].value
    assert not torch.allclose(before, after)
    with headlight.record(model) as record:
        model(**tokenizer(TEXT, return_tensors="pt"))
    torch.testing.assert_close(record[name].value[0], after)
    assert headlight.wrap(model, tokenizer).info.digest != wrapped.info.digest


def test_half_precision_is_shown() -> None:
    model, tokenizer = build("llama")
    model.to(torch.bfloat16)
    wrapped = headlight.wrap(model, tokenizer)
    assert all(one.qk for one in wrapped.info.attentions)
    weights = np.asarray(wrapped.trace(TEXT)["decoder.0.self.weights"])
    np.testing.assert_allclose(weights.sum(-1), 1, atol=0.02)
    assert re.search("srcdoc", headlight.show(wrapped, TEXT)._repr_html_())


def test_a_model_is_served_while_its_owner_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Vendor, "compress", lambda _: None)
    model, tokenizer = build("llama")
    ids = tokenizer(TEXT, return_tensors="pt").input_ids
    expected = model(ids).logits
    before = state(model)
    with headlight.serve(model, tokenizer) as page:
        request = urllib.request.Request(
            page.url + "/api/trace",
            json.dumps({"text": TEXT}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as reply:
            tensors = json.load(reply)["tensors"]
        assert torch.equal(model(ids).logits, expected)
        assert b"workspace" in urllib.request.urlopen(page.url).read()
    assert "decoder.1.self.weights" in tensors
    assert same(before, state(model))


def test_a_tokenizer_of_another_model_is_doubted() -> None:
    """Its ids exist in the model too, where they are other tokens."""
    model, tokenizer = build("bert")
    model.config._name_or_path = "someone/cased"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not headlight.wrap(model, tokenizer).notices  # the tokenizer has no name
        tokenizer.name_or_path = "someone/fine-tuned"
        assert not headlight.wrap(model, tokenizer).notices  # of the same size
    larger = type(model)(
        type(model.config).from_dict({**model.config.to_dict(), "vocab_size": 2 * len(tokenizer)})
    ).eval()
    larger.config._name_or_path = "someone/cased"
    said = "someone/fine-tuned has .* tokens and the model someone/cased .*another model"
    with pytest.warns(AttentionWarning, match=said):
        figure = headlight.show(larger, tokenizer, TEXT, layers=[0], lang="zh")
    assert "另一个模型的分词器" in figure.html.decode()


def test_an_id_that_the_model_does_not_know_is_named() -> None:
    model, tokenizer = build("bert")
    model.resize_token_embeddings(6)
    with pytest.raises(InputError, match="the model knows 6 tokens: this is the tokenizer of"):
        headlight.wrap(model, tokenizer).trace(TEXT)


def test_what_does_not_fit_is_named() -> None:
    model, tokenizer = build("bert")
    own = headlight.load("en-zh", "cpu")
    for wrong in ((model, TEXT), (model, tokenizer), (model,)):
        with pytest.raises(TypeError, match="needs its tokenizer and a sentence"):
            headlight.show(*wrong)
    with pytest.raises(TypeError, match="takes no tokenizer"):
        headlight.show(own, tokenizer, TEXT)
    with pytest.raises(TypeError, match=r"the class .* is no model of transformers"):
        headlight.show(type(model), tokenizer, TEXT)
    with pytest.raises(ValueError, match="dict is not a tokenizer"):
        headlight.show(model, {}, TEXT)
    with pytest.raises(TypeError, match="a model of transformers is needed, not dict"):
        headlight.wrap({}, tokenizer)
    with pytest.raises(ValueError, match="NoneType is not a tokenizer"):
        headlight.serve(model)
    assert headlight.show(model, tokenizer, Request(TEXT)).html
    written = headlight.wrap(*build("t5")).trace(Request(TEXT, target="A cat"))
    assert written.output.text == "A cat"
