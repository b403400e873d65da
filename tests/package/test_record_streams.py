"""The residual streams and the logits of a model's own passes, against those of `transformers`."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

import headlight
from tests.model.tiny_huggingface import build
from tests.package.test_record import BOTH, batch, hooks_of

STREAMED = ["gpt2", "neox", "llama", "qwen3", "gemma2", "gpt-oss", "deepseek-v3", "t5", "t5gemma"]
STREAMED += ["bert", "roberta", "bart", "marian", "m2m100", "modernbert", "distilbert"]
POST_NORM = {"bert", "roberta", "bart", "marian", "distilbert"}


@pytest.mark.parametrize("name", STREAMED)
def test_residuals_and_logits_are_those_that_the_library_returns(name: str) -> None:
    model, _ = build(name)
    given = batch(model)
    given["attention_mask"][:] = 1  # a row of padding means nothing
    model.set_attn_implementation("eager")  # others leave out a soft cap
    out = model(**given, output_hidden_states=True)
    hooks = hooks_of(model)
    with headlight.record(model, "*") as record:
        model(**given)
    stack = "decoder" if "decoder.0.self.weights" in record else "encoder"
    named = [f"{stack}.logits"] if "logits" in out else []
    with headlight.record(model, ["*", *named]) as record:
        again = model(**given)
    torch.testing.assert_close(again[0], out[0])
    two = model.config.is_encoder_decoder
    stacks = ["encoder", "decoder"] if two else sorted({one.split(".")[0] for one in record} & BOTH)
    for stack in stacks:  # the last is that of the logits
        states = out[f"{stack}_hidden_states"] if two else out.hidden_states
        text = record[f"{stack}.0.self.residual"].over["query"]
        torch.testing.assert_close(record[f"{text}.input"].value, states[0])
        post = name in POST_NORM
        last = len([one for one in record if one.startswith(stack) and "ffn.residual" in one])
        assert last > 1
        # What follows the last layer of a pre-norm model is after one more norm.
        for layer in range(last if post else last - 1):
            seen = record[f"{stack}.{layer}.ffn.{'norm' if post else 'residual'}"]
            assert seen.dims == ("batch", "query", "feature")
            torch.testing.assert_close(seen.value, states[layer + 1])
    if "logits" in out:
        seen = record[f"{stack}.logits"]
        assert seen.dims == ("batch", "query", "vocab")
        torch.testing.assert_close(seen.value, out.logits)
    assert hooks_of(model) == hooks


@pytest.mark.parametrize("name", ["gpt2", "t5", "bert", "bart"])
def test_residuals_contain_the_dropout_of_training(name: str) -> None:
    model, _ = build(name)
    for part in model.modules():
        if isinstance(part, torch.nn.Dropout):
            part.p = 0.4
    model.train()
    given = batch(model)
    torch.manual_seed(5)
    expected = model(**given, output_hidden_states=True)
    torch.manual_seed(5)
    with headlight.record(model, "*") as record:
        found = model(**given, output_hidden_states=True)
    torch.testing.assert_close(found[0], expected[0])
    kind = "decoder_hidden_states" if model.config.is_encoder_decoder else "hidden_states"
    stack = "encoder" if name == "bert" else "decoder"
    part = "norm" if name in POST_NORM else "residual"
    for seen in (record[f"{stack}.0.ffn.{part}"], record[f"{stack}.1.self.residual"]):
        assert not seen.value.requires_grad
    torch.testing.assert_close(record[f"{stack}.0.ffn.{part}"].value, found[kind][1])


def test_the_logits_of_generate_are_those_of_each_step() -> None:
    model, _ = build("llama")
    ids = torch.randint(5, 45, (1, 8), generator=torch.Generator().manual_seed(2))
    told = {"output_logits": True, "return_dict_in_generate": True}
    options = {"max_new_tokens": 4, "min_new_tokens": 4, "do_sample": False, "pad_token_id": 0}
    with headlight.record(model, ["decoder.logits", "*.residual"], keep="all") as record:
        out = model.generate(ids, attention_mask=torch.ones_like(ids), **options, **told)
    steps = record.history("decoder.logits")
    assert len(steps) == len(out.logits) == 4
    for seen, logits in zip(steps, out.logits, strict=True):
        torch.testing.assert_close(seen.value[:, -1], logits)
    lengths = [one.shape[1] for one in record.history("decoder.0.ffn.residual")]
    assert lengths == [8, 1, 1, 1]


def test_a_loss_and_a_tuple_do_not_hide_the_logits() -> None:
    model, _ = build("gpt2")
    ids = torch.randint(5, 45, (2, 6))
    with headlight.record(model, "decoder.logits") as record:
        expected = model(input_ids=ids, labels=ids)
        torch.testing.assert_close(record["decoder.logits"].value, expected.logits)
        record.clear()
        model(input_ids=ids, labels=ids, return_dict=False)
        torch.testing.assert_close(record["decoder.logits"].value, expected.logits)
        record.clear()
        model.base_model(input_ids=ids)
        assert not record


@pytest.mark.parametrize("name", ["gpt2", "bert"])
def test_streams_of_passes_at_the_same_time_are_their_own(name: str) -> None:
    model, _ = build(name)

    def run_often(seed: int) -> bool:
        made = torch.Generator().manual_seed(seed)
        for length in range(2, 22):
            ids = torch.randint(5, 45, (seed + 1, length), generator=made)
            states = model(input_ids=ids, output_hidden_states=True).hidden_states
            with headlight.record(model, "*") as record:
                model(input_ids=ids)
            if not torch.equal(record["text.input"].value, states[0]):
                return False
            positions = record.get("text.position")
            if positions is not None and positions.shape != states[0].shape:
                return False
        return True

    with ThreadPoolExecutor(3) as pool:
        assert all(pool.map(run_often, range(3)))
