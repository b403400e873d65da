"""Records of a model's own passes, against what `transformers` itself reports with "eager"."""

import copy
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import headlight
from headlight import InputError
from tests.model.test_huggingface import EAGER, RECORDED
from tests.model.tiny_huggingface import build

hf: Any = pytest.importorskip("transformers")
BOTH = {"encoder", "decoder"}
LENGTHS = (11, 6)  # of the two rows of a batch; the second is padded
WRITTEN = 5


def batch(model: Any) -> dict[str, Tensor]:
    """Return a batch whose second row is padded."""
    made = torch.Generator().manual_seed(1)
    ids = torch.randint(5, 45, (2, LENGTHS[0]), generator=made)
    mask = torch.ones_like(ids)
    mask[1, LENGTHS[1] :] = 0
    given = {"input_ids": ids, "attention_mask": mask}
    if model.config.is_encoder_decoder:
        given["decoder_input_ids"] = torch.randint(5, 45, (2, WRITTEN), generator=made)
    return given


def eager(model: Any, given: dict[str, Tensor]) -> tuple[Tensor, dict[str, Sequence[Tensor]]]:
    """Return logits, and the weights of each layer by "encoder.self" and so on."""
    other = copy.deepcopy(model)
    other.set_attn_implementation("eager")
    out = other(**given, output_attentions=True, use_cache=False)
    if model.config.is_encoder_decoder:
        return out[0], {
            "encoder.self": out.encoder_attentions,
            "decoder.self": out.decoder_attentions,
            "decoder.cross": out.cross_attentions,
        }
    return out[0], {"self": out.attentions}


@pytest.mark.parametrize("name", RECORDED)
def test_weights_are_eagers_and_the_model_is_as_before(name: str) -> None:
    model, _ = build(name)
    given = batch(model)
    logits, expected = eager(model, given)
    before = model.config._attn_implementation, type(model.config), model.training
    with headlight.record(model) as record:
        out = model(**given)
    assert (model.config._attn_implementation, type(model.config), model.training) == before
    for row, length in enumerate(LENGTHS):
        own = WRITTEN if model.config.is_encoder_decoder else length
        torch.testing.assert_close(out[0][row, :own], logits[row, :own], atol=1e-4, rtol=1e-4)
    found = 0
    for kind, layers in expected.items():
        stack, _, what = kind.rpartition(".")
        stack = stack or ("decoder" if "decoder.0.self.weights" in record else "encoder")
        for layer, weights in enumerate(layers):
            tensor = record[f"{stack}.{layer}.{what}.weights"]
            assert tensor.dims == ("batch", "head", "query", "key")
            for row, length in enumerate(LENGTHS):
                queries = length if tensor.over["query"] != "target" else WRITTEN
                torch.testing.assert_close(
                    tensor.value[row, :, :queries], weights[row, :, :queries], atol=1e-5, rtol=1e-4
                )
            found += 1
    assert found == len(record)


@pytest.mark.parametrize("name", ["llama", "t5", "gpt-oss", "albert"])
def test_everything_selected_fits_together(name: str) -> None:
    model, _ = build(name)
    with headlight.record(model, "*") as record:
        model(**batch(model))
    places = {one.removesuffix(".weights") for one in record if one.endswith(".weights")}
    assert set(record) == record.names
    for place in places:
        weights, v = record[f"{place}.weights"].value, record[f"{place}.v"].value
        values = v.repeat_interleave(weights.shape[1] // v.shape[1], 1)
        torch.testing.assert_close(weights @ values, record[f"{place}.mix"].value)
        assert not weights.masked_select(~record[f"{place}.mask"].value[:, None]).any()


def hooks_of(model: Any) -> list[Any]:
    return [[*one._forward_hooks, *one._forward_pre_hooks] for one in model.modules()]


def test_a_loop_keeps_the_last_pass_or_all() -> None:
    model, _ = build("bert")
    texts = [torch.randint(5, 45, (1, length)) for length in (3, 9, 5)]
    with headlight.record(model) as last, headlight.record(model, keep="all") as every:
        for ids in texts:
            model(input_ids=ids)
    name = "encoder.1.self.weights"
    assert last[name].shape == (1, 4, 5, 5)
    assert len(last.history(name)) == 1
    assert [one.shape[-1] for one in every.history(name)] == [3, 9, 5]
    for ids, seen in zip(texts, every.history(name), strict=True):
        torch.testing.assert_close(seen.value, eager(model, {"input_ids": ids})[1]["self"][1])
    every.clear()
    with pytest.raises(KeyError, match="no pass has been recorded"):
        every[name]
    with pytest.raises(KeyError, match="not recorded"):
        last["encoder.1.self.q"]


@pytest.mark.parametrize("name", ["llama", "gemma3", "gpt2", "bart"])
def test_generate_is_recorded_step_by_step(name: str) -> None:
    model, _ = build(name)
    ids = torch.randint(5, 45, (1, 8), generator=torch.Generator().manual_seed(2))
    options = {"max_new_tokens": 4, "min_new_tokens": 4, "do_sample": False, "pad_token_id": 0}
    other = copy.deepcopy(model)
    other.set_attn_implementation("eager")
    told = {"output_attentions": True, "return_dict_in_generate": True}
    expected = other.generate(ids, attention_mask=torch.ones_like(ids), **options, **told)
    with headlight.record(model, keep="all") as record:
        written = model.generate(ids, attention_mask=torch.ones_like(ids), **options)
    torch.testing.assert_close(written, expected.sequences, atol=0, rtol=0)
    two = model.config.is_encoder_decoder
    steps = expected.decoder_attentions if two else expected.attentions
    for step, weights in enumerate(steps):
        for layer, one in enumerate(weights):
            seen = record.history(f"decoder.{layer}.self.weights")[step].value
            torch.testing.assert_close(seen, one[..., : seen.shape[-1]], atol=1e-5, rtol=1e-4)
    if two:
        assert record["encoder.0.self.weights"].shape[-1] == 8


def test_two_models_are_recorded_at_once_and_each_by_itself() -> None:
    (one, _), (other, _) = build("bert"), build("llama")
    ids = torch.randint(5, 45, (2, 6))
    with headlight.record(one) as first, headlight.record(other) as second:
        other(input_ids=ids)
        assert not first
        one(input_ids=ids)
    assert set(first) == {f"encoder.{layer}.self.weights" for layer in range(2)}
    assert set(second) == {f"decoder.{layer}.self.weights" for layer in range(2)}
    with headlight.record(one):
        pass
    one(input_ids=ids)
    assert len(first.history("encoder.0.self.weights")) == 1


def test_blocks_of_one_model_may_be_nested_and_closed_in_any_order() -> None:
    model, _ = build("bert")
    ids = torch.randint(5, 45, (1, 4))
    outer, inner = headlight.record(model, keep="all"), headlight.record(model, keep="all")
    first, second = outer.__enter__(), inner.__enter__()
    model(input_ids=ids)
    inner.__exit__(None, None, None)
    model(input_ids=ids)
    assert model.config._attn_implementation == "headlight"
    outer.__exit__(None, None, None)
    assert model.config._attn_implementation == "sdpa"
    name = "encoder.0.self.weights"
    assert [len(one.history(name)) for one in (first, second)] == [2, 1]


@pytest.mark.parametrize("name", ["bert", "albert"])
def test_after_an_exception_everything_is_as_before(name: str) -> None:
    model, _ = build(name)
    given = batch(model)
    layers = eager(model, given)[1]["self"]
    breaking = [True]

    def break_off(*_: Any) -> None:
        if breaking:
            breaking.clear()
            raise ZeroDivisionError

    part = next(one for one in model.modules() if type(one).__name__.endswith("Attention"))
    part.register_forward_hook(break_off)
    with headlight.record(model) as record:
        with pytest.raises(ZeroDivisionError):
            model(**given)
        model(**given)
    for layer, weights in enumerate(layers):
        seen = record[f"encoder.{layer}.self.weights"].value
        torch.testing.assert_close(seen[0], weights[0], atol=1e-5, rtol=1e-4)
    breaking.append(True)
    with pytest.raises(ZeroDivisionError), headlight.record(model):
        model(**given)
    assert model.config._attn_implementation == "sdpa"
    assert not hasattr(model.config, "unwatched")


def test_training_goes_on_as_without_a_record() -> None:
    config = hf.BertConfig(
        hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48,
        vocab_size=90, attention_probs_dropout_prob=0.3, attn_implementation="eager",
    )  # fmt: skip
    model = hf.BertForMaskedLM(config).train()
    ids = torch.randint(5, 45, (2, 7))

    def gradients() -> list[Tensor]:
        torch.manual_seed(3)
        model.zero_grad()
        model(input_ids=ids, labels=ids).loss.backward()
        return [one.grad.clone() for one in model.parameters() if one.grad is not None]

    expected = gradients()
    with headlight.record(model) as record:
        found = gradients()
    torch.testing.assert_close(found, expected)
    assert model.training
    weights = record["encoder.0.self.weights"].value
    assert not weights.requires_grad
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4, 7))  # dropout comes afterwards


def test_passes_on_other_threads_are_theirs() -> None:
    model, _ = build("llama")
    given = batch(model)
    expected = model(**given).logits
    assert model.config._attn_implementation == "sdpa"

    def run_often(_: int) -> bool:
        return all(torch.equal(model(**given).logits, expected) for _ in range(60))

    with ThreadPoolExecutor(2) as pool:
        running = pool.map(run_often, range(2))
        shapes = []
        for length in range(2, 32):
            with headlight.record(model, keep="all") as record:
                model(input_ids=torch.full((1, length), 7))
            [seen] = record.history("decoder.0.self.weights")
            shapes.append(seen.shape[-1])
        assert all(running)
    assert shapes == [*range(2, 32)]


@pytest.mark.parametrize("name", EAGER)
def test_what_cannot_be_recorded_is_said(name: str) -> None:
    model, _ = build(name)
    says = r"own code.*output_attentions|attn_implementation=.eager"
    with pytest.raises(ValueError, match=says), headlight.record(model):
        pass


def test_the_own_models_are_recorded_too() -> None:
    model = headlight.load("en-zh", "cpu")
    trace = model.trace("Hello, world.", select="*")
    with headlight.record(model, "*") as record:
        model.trace("Hello, world.")
    shared = [name for name in trace if name in record]
    assert set(shared) == record.names - {"decoder.logits"}
    for name in shared:
        assert record[name].dims == ("batch", *trace[name].dims)
        assert record[name].over == trace[name].over
        np.testing.assert_array_equal(np.asarray(record[name])[0], np.asarray(trace[name]))
    transformer: Any = model
    state = torch.get_rng_state()
    with headlight.record(transformer.model, "decoder.*.cross.weights") as record:
        transformer.model(torch.ones(3, 4, dtype=torch.long), torch.ones(3, 2, dtype=torch.long))
    assert torch.equal(state, torch.get_rng_state())
    assert record["decoder.0.cross.weights"].shape == (3, 8, 2, 4)


def test_opening_a_record_draws_no_random_numbers_and_is_in_no_other_record() -> None:
    """The names are found by a pass, in which a model in training mode drops at random."""
    model: Any = headlight.load("en-zh", "cpu")
    own = model.model.train()
    ids = torch.ones(1, 3, dtype=torch.long)
    state = torch.get_rng_state()
    with headlight.record(own, keep="all") as outer, headlight.record(own):
        assert not outer
    assert torch.equal(state, torch.get_rng_state())
    own(ids, ids)
    assert not torch.equal(state, torch.get_rng_state())  # a pass itself does draw


def test_bad_arguments_are_named() -> None:
    model, _ = build("bert")
    with pytest.raises(InputError, match="names no tensor"), headlight.record(model, "nothing"):
        pass
    with pytest.raises(ValueError, match="keep is 'some'"), headlight.record(model, keep="some"):  # type: ignore[arg-type]
        pass
    with pytest.raises(TypeError, match="not Linear"), headlight.record(torch.nn.Linear(1, 1)):
        pass
    half, _ = build("llama")
    half.to(torch.bfloat16)
    with headlight.record(half, "*") as record:
        half(**batch(half))
    assert record["decoder.0.self.weights"].value.dtype == torch.bfloat16
    assert np.asarray(record["decoder.0.self.weights"]).dtype == np.float32
