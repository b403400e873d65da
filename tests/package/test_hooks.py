"""Hooks of a record, against torch's own hooks and against interventions."""

from typing import Any

import pytest
import torch
from torch import Tensor

import headlight
from headlight import Intervention, Request
from tests.model.tiny_huggingface import build

pytest.importorskip("transformers")
IDS = torch.randint(5, 45, (2, 9), generator=torch.Generator().manual_seed(1))
SOURCES = ["The cat sat on the mat.", "Hello."]
FIRST = slice(0, 8)  # the channels of head 0


def zeroed(_: str, value: Tensor) -> Tensor:
    """Zero the first head (batch, head, …)."""
    value = value.clone()
    value[:, 0] = 0
    return value


def logits(model: Any) -> Tensor:
    with torch.inference_mode():
        found: Tensor = model(input_ids=IDS).logits
        return found


def test_a_hook_at_a_heads_mix_is_that_head_off() -> None:
    """In llama the heads' mixes, side by side, are what o_proj reads."""
    model, _ = build("llama")

    def before(_: Any, given: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        [mix] = given
        mix = mix.clone()
        mix[..., FIRST] = 0
        return (mix,)

    handle = model.model.layers[1].self_attn.o_proj.register_forward_pre_hook(before)
    expected = logits(model)
    handle.remove()
    plain = logits(model)
    with headlight.record(model, "decoder.1.self.mix", hook=zeroed) as record:
        torch.testing.assert_close(logits(model), expected)
    assert not record["decoder.1.self.mix"].value[:, 0].any()
    assert float((expected - plain).abs().max()) > 1e-3
    torch.testing.assert_close(logits(model), plain)


@pytest.mark.parametrize("name", ["llama", "gpt2", "neox"])
def test_a_vector_is_added_to_the_stream(name: str) -> None:
    model, _ = build(name)
    vector = torch.linspace(-1, 1, model.config.hidden_size)
    layers = {
        "llama": lambda: model.model.layers,
        "gpt2": lambda: model.transformer.h,
        "neox": lambda: model.gpt_neox.layers,
    }[name]()

    def added(_: Any, __: Any, output: Any) -> Any:
        return (output[0] + vector, *output[1:]) if isinstance(output, tuple) else output + vector

    handle = layers[0].register_forward_hook(added)
    expected = logits(model)
    handle.remove()
    with headlight.record(model, "decoder.0.ffn.residual", hook=lambda _, x: x + vector):
        found = logits(model)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)
    assert float((found - logits(model)).abs().max()) > 1e-3


def test_logits_are_replaced_in_every_kind_of_output() -> None:
    model, _ = build("llama")
    with headlight.record(model, "decoder.logits", hook=lambda _, x: 2 * x) as record:
        doubled = logits(model)
        [first, *_] = model(input_ids=IDS, return_dict=False)
    plain = logits(model)
    torch.testing.assert_close(doubled, 2 * plain)
    torch.testing.assert_close(first.detach(), 2 * plain)
    torch.testing.assert_close(record["decoder.logits"].value, 2 * plain)


def test_in_the_own_model_it_is_the_intervention() -> None:
    model = headlight.load("en-zh", "cpu")
    made = [Intervention("decoder.2.cross", "zero", 1)]
    names = ["decoder.2.cross.mix"]
    expected = [
        model.trace(source, target="猫坐在垫子上。", interventions=made) for source in SOURCES
    ]

    def first(name: str, value: Tensor) -> Tensor:
        assert name == names[0]
        value = value.clone()
        value[:, 1] = 0
        return value

    with headlight.record(model, names, hook=first):
        found = model.run([Request(source, target="猫坐在垫子上。") for source in SOURCES])
    for one, other in zip(found, expected, strict=True):
        assert one.output.logprobs == pytest.approx(other.output.logprobs, abs=1e-4)
    plain = model.trace(SOURCES[0], target="猫坐在垫子上。")
    assert found[0].output.score != pytest.approx(plain.output.score, abs=1e-3)


def test_what_a_hook_writes_is_not_written_without_it() -> None:
    """The encoder's output of another sentence, before and after the plain translation."""
    model = headlight.load("en-zh", "cpu")
    father, mother = Request("My father is a teacher."), Request("My mother is a teacher.")
    with headlight.record(model, "encoder.2.ffn.norm") as record:
        expected = model.trace(father).output.text
    memory = record["encoder.2.ffn.norm"].value
    for _ in range(2):
        with headlight.record(model, "encoder.2.ffn.norm", hook=lambda _, x: memory):
            assert model.trace(mother).output.text == expected
        assert model.trace(mother).output.text != expected


def test_a_hook_that_returns_nothing_only_sees_in_the_order_of_computation() -> None:
    model, _ = build("llama")
    seen: list[str] = []
    plain = logits(model)
    with headlight.record(model, "decoder.0.self.*", hook=lambda name, _: seen.append(name)):
        torch.testing.assert_close(logits(model), plain, atol=1e-5, rtol=1e-4)
    parts = [name.rpartition(".")[2] for name in seen]
    order = [part for part in parts if part in ("q", "scores", "weights", "mix", "output")]
    assert order == ["q", "scores", "weights", "mix", "output"]


@pytest.mark.parametrize(
    ("hook", "error", "message"),
    [
        (lambda _, x: x[:, :1], ValueError, r"decoder.0.self.q: .* shape \(2, 1, 9, 8\), not"),
        (lambda _, x: 3, TypeError, "decoder.0.self.q: the hook returned int, not a tensor"),
    ],
)
def test_what_does_not_fit_is_named(hook: Any, error: type[Exception], message: str) -> None:
    model, _ = build("llama")
    with (
        headlight.record(model, "decoder.0.self.q", hook=hook),
        pytest.raises(error, match=message),
    ):
        logits(model)
    logits(model)
