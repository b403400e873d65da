"""The model as people use it from Python; the examples of the documentation are run as written."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model import Decode, InputError, Intervention, Request
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import ask
from tests.model.tiny_huggingface import build

transformers: Any = pytest.importorskip("transformers")
VIT = transformers.ViTConfig(
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=48,
    image_size=16,
    patch_size=8,
    attn_implementation="eager",
)
PAGE = Path(__file__).parents[2] / "docs" / "python.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)


def test_the_examples_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    llama, tokenizer = build("llama")
    bert, bert_tokenizer = build("bert")
    known: dict[str, Any] = {
        "bert": bert,
        "bert_tokenizer": bert_tokenizer,
        "llama": llama,
        "tokenizer": tokenizer,
        "transformers": transformers,
        "torch": torch,
        "vit": transformers.ViTModel(VIT),
    }
    for number, example in enumerate(EXAMPLES):
        exec(compile(example, f"{PAGE.name}, example {number + 1}", "exec"), known)
    said = capsys.readouterr().out
    assert "The cat sat on the mat. → " in said
    (promised,) = re.findall(r"print\(weights\)  # (.+)", PAGE.read_text())
    assert promised in said.splitlines()
    assert said.count("it looks most at") == len(known["trace"].output.tokens)
    *_, difference = re.findall(r"^\d[\d.e-]*$", said, re.MULTILINE)
    assert float(difference) < 1e-5


def test_a_sentence_is_a_request(tiny: EncoderDecoder) -> None:
    trace = tiny.trace("The cat sat.", target="猫坐。")
    assert trace.request == Request("The cat sat.", target="猫坐。")
    [same] = tiny.run([trace.request])
    assert list(trace) == list(same) == [name for name in tiny.names if name.endswith(".weights")]
    for name in trace:
        assert torch.equal(trace[name].value, same[name].value)
    assert trace.model == tiny.info


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"select": "*.mask"}, {"select": ("*.mask",)}),
        ({"select": ["*.q", "*.k"]}, {"select": ("*.q", "*.k")}),
        ({"select": []}, {"select": ()}),
        ({"decode": "beam"}, {"decode": Decode("beam")}),
        ({"decode": Decode("beam", beam=2)}, {"decode": Decode("beam", beam=2)}),
        (
            {"interventions": [Intervention("encoder.0.self", "zero")]},
            {"interventions": (Intervention("encoder.0.self", "zero"),)},
        ),
        ({"target": "猫", "pad_to": 9}, {"target": "猫", "pad_to": 9}),
    ],
)
def test_options_are_fields_of_a_request(options: Any, expected: Any) -> None:
    assert ask("The cat", **options) == Request("The cat", **expected)
    before = Request("The cat", direction="en-zh", select=("*.v",))
    assert ask(before, **options) == Request(
        "The cat", direction="en-zh", **{"select": ("*.v",), **expected}
    )


def test_unanswerable_requests_raise(tiny: EncoderDecoder) -> None:
    with pytest.raises(InputError, match="source is empty"):
        tiny.trace(" ")
    with pytest.raises(InputError, match=re.escape("select[0] names no tensor")):
        tiny.trace("The cat", select="nothing")
    with pytest.raises(TypeError, match="colour"):
        tiny.trace("The cat", colour="red")  # type: ignore[call-arg]


def test_tensors_by_name(tiny: EncoderDecoder) -> None:
    trace = tiny.trace("The cat", target="猫坐", select="decoder.1.cross.*")
    weights = trace["decoder.1.cross.weights"]
    assert weights.shape == (4, len(trace.texts["target"]), len(trace.texts["source"]))
    assert [len(trace.texts[weights.over[dim]]) for dim in weights.dims[1:]] == list(
        weights.shape[1:]
    )
    np.testing.assert_allclose(np.asarray(weights).sum(-1), 1, atol=1e-6)
    assert np.array(weights, dtype=np.float64).dtype == np.float64
    assert "decoder.1.cross.q" in trace
    assert "decoder.0.cross.q" not in trace
    with pytest.raises(KeyError, match=r"not in this trace, which has decoder\.1\.cross\.q, .+ …"):
        trace["decoder.0.cross.q"]


def test_a_trace_says_what_it_is(tiny: EncoderDecoder) -> None:
    trace = tiny.trace("The cat", target="猫坐", select=[])
    assert str(trace).splitlines() == [
        "Trace of tiny, en-zh",
        "  The cat → 猫坐",
        "  source: <2zh> The cat <eos>",
        "  target: <bos> 猫 坐",
        "  0 tensors: none",
    ]
