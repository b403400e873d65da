"""Every number of a trace against NumPy in float64, which shares no code with the model."""

import ast
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Decode, Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import CHECKPOINTS, load_bundle
from model.trace.interventions import Cell, Intervention
from model.transformer.masks import Open
from model.transformer.norms import AddNorm, PreNorm
from model.transformer.scoring import Dot
from tests.model import numpy_reference
from tests.model.numpy_reference import (
    Array,
    Change,
    NumpyTransformer,
    log_softmax,
    score,
    softmax,
)

FOLDER = CHECKPOINTS / "en-zh"
NEAR = 5e-5  # weights, and all that is about 1
FLOAT32 = 1e-6  # of a number's size: activations reach 200
BATCH = 3
SELECT = ("*", "decoder.logits")
BEAM = Decode("beam", length_penalty=0.8)
# Both directions, 4 to 128 tokens; in a batch, the shorter ones are padded.
REQUESTS = [
    Request("Yes.", select=SELECT),
    Request("好", select=SELECT, pad_to=12),
    Request("The cat sat on the mat.", select=SELECT, decode=BEAM),
    Request("我不知道她是谁。", select=SELECT),
    Request("3 × 4 = 12 🙂", direction="zh-en", select=SELECT),
    Request("I see.", target="我明白了，可这不是你昨天说的那句话。", select=SELECT),
    Request("如果明天下雨，我们就待在家里。", target="Rain? Stay.", select=SELECT, pad_to=40),
    Request("The animal didn't cross the street because it was too tired.", select=SELECT),
    Request("她在这座城市住了十年，可还是常常迷路。" * 2, select=SELECT, decode=BEAM),
    Request("My sister bought a red car, but she never drives it. " * 3, select=SELECT),
    Request("他说他已经做完作业了。" * 9, select=SELECT),
    Request("Nobody knows why the old man was crying. " * 12, select=SELECT),
]


@pytest.fixture(scope="module")
def witness() -> NumpyTransformer:
    return NumpyTransformer(FOLDER)


@pytest.fixture(scope="module")
def traces() -> list[Trace]:
    return answered(opened(), REQUESTS)


def opened() -> EncoderDecoder:
    return EncoderDecoder(load_bundle(FOLDER), "en-zh")


def answered(adapter: EncoderDecoder, requests: Sequence[Request]) -> list[Trace]:
    """Run several requests in a batch, as the server does."""
    starts = range(0, len(requests), BATCH)
    return [trace for n in starts for trace in adapter.run(requests[n : n + BATCH])]


def witnessed(
    witness: NumpyTransformer, trace: Trace, change: Change = lambda _, value: value
) -> dict[str, Array]:
    """Return the same run in NumPy, which uses only the ids of the model's trace."""
    ids = {text: [token.id for token in tokens] for text, tokens in trace.texts.items()}
    real = [sum(token.text != "<pad>" for token in tokens) for tokens in trace.texts.values()]
    return witness.run(ids["source"], ids["target"], *real, change=change)


def apart(trace: Trace, expected: Mapping[str, Array]) -> set[str]:
    """Return the names of quantities that differ, including ids and log-probabilities."""
    found = {
        name
        for name, value in expected.items()
        if not np.allclose(np.asarray(trace[name]), value, rtol=FLOAT32, atol=NEAR)
    }
    logprobs = log_softmax(expected["decoder.logits"])
    top = np.asarray(trace["decoder.candidates"])
    likely = np.take_along_axis(softmax(expected["decoder.logits"]), top, axis=-1)
    largest = -np.sort(-softmax(expected["decoder.logits"]), axis=-1)[:, : top.shape[1]]
    if not np.allclose(likely, largest, rtol=0, atol=NEAR):
        found.add("decoder.candidates")
    if not np.allclose(np.asarray(trace["decoder.probabilities"]), largest, rtol=0, atol=NEAR):
        found.add("decoder.probabilities")
    ids = [token.id for token in trace.output.tokens]
    written = logprobs[range(len(ids)), ids]
    if not np.allclose(trace.output.logprobs, written, rtol=0, atol=NEAR):
        found.add("logprobs")
    expected_score = score(written, trace.request.decode.length_penalty)
    if not np.isclose(trace.output.score, expected_score, rtol=0, atol=NEAR * len(ids)):
        found.add("score")
    return found


def test_the_witness_has_nothing_of_the_model() -> None:
    tree = ast.parse(Path(numpy_reference.__file__).read_text())
    named = [
        name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        )
    ]
    rooms = {(name or "").partition(".")[0] for name in named}
    assert rooms == {"collections", "json", "numpy", "pathlib", "safetensors", "typing"}


NEARLY_ONE = (8, 11)  # in head 0 of decoder.2.cross, 1 − its weight has no digit in float32


@pytest.mark.parametrize("value", [0.0, 0.25])
def test_the_other_weights_of_a_row_share_what_a_cell_leaves(
    witness: NumpyTransformer, value: float
) -> None:
    """At temperature 0.05, even the sum of the others is 0 in float32."""
    place, (row, key) = "decoder.2.cross", NEARLY_ONE
    temperatures = (1.0, 0.5, 0.05)
    made = Intervention(place, "set", 0, Cell(row, key, value, renormalise=True))
    requests = [
        Request(
            "我们明天去看电影吗？",
            target="Are we going to the movies tomorrow?",
            select=SELECT,
            interventions=(made, Intervention(place, "temperature", 0, temperature)),
            pad_to=length,
        )
        for temperature, length in zip(temperatures, (None, 30, 14), strict=True)
    ]
    for temperature, trace in zip(temperatures, opened().run(requests), strict=True):

        def change(name: str, numbers: Array, t: float = temperature) -> Array:
            numbers = numbers.copy()
            if name == f"{place}.scores":
                numbers[0] /= t
            if name == f"{place}.weights":
                numbers[0, row, key] = 0
                numbers[0, row] *= (1 - value) / numbers[0, row].sum()
                numbers[0, row, key] = value
            return numbers

        expected = witnessed(witness, trace, change)
        found = np.asarray(trace[f"{place}.weights"])[0, row]
        np.testing.assert_allclose(found, expected[f"{place}.weights"][0, row], atol=1e-4)
        assert found.sum() == pytest.approx(1, abs=1e-6)
        # Scores in float32 are 1e-5 off, and are divided by the temperature.
        logits = np.asarray(trace["decoder.logits"])
        np.testing.assert_allclose(logits, expected["decoder.logits"], atol=2e-3)


@pytest.mark.parametrize("n", range(len(REQUESTS)))
def test_every_number(witness: NumpyTransformer, traces: list[Trace], n: int) -> None:
    expected = witnessed(witness, traces[n])
    assert set(traces[n]) == {*expected, "decoder.candidates", "decoder.probabilities"}
    assert apart(traces[n], expected) == set()


def test_the_sentences_are_short_and_long(traces: list[Trace]) -> None:
    lengths = {len(trace.texts["source"]) for trace in traces}
    assert {trace.direction for trace in traces} == {"en-zh", "zh-en"}
    assert len(lengths) > 8
    assert min(lengths) == 4
    assert max(lengths) > 100
    assert max(len(trace.texts["target"]) for trace in traces) > 120


def test_greedy_writes_what_the_witness_holds_most_probable(
    witness: NumpyTransformer, traces: list[Trace]
) -> None:
    for trace in traces:
        if trace.request.target is None and trace.request.decode.method == "greedy":
            logits = witnessed(witness, trace)["decoder.logits"]
            ids = [token.id for token in trace.output.tokens]
            assert logits.argmax(axis=-1)[: len(ids)].tolist() == ids
            assert set(trace.output.ranks) == {1}


def unscaled(model: Any) -> None:
    for layer in model.decoder:
        layer.cross_attention.scoring = Dot(8, 32)


def slightly_off(model: Any) -> None:
    """√(d_k + 1) in one head's layer: the scores are 1.5 % smaller."""
    model.encoder[2].self_attention.scoring.root = 33**0.5


def norm_first(model: Any) -> None:
    for layer in (*model.encoder, *model.decoder):
        for name, norm in list(layer.named_children()):
            if isinstance(norm, AddNorm):
                turned = PreNorm(256, 0.0)
                turned.norm = norm.norm
                setattr(layer, name, turned.eval())


def one_too_far(model: Any) -> None:
    model.encoder_positions.table = model.encoder_positions.table.roll(-1, 0)


def sines_then_cosines(model: Any) -> None:
    table = model.decoder_positions.table
    model.decoder_positions.table = torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)


def sees_the_future(model: Any) -> None:
    model.decoder_mask = Open()


def embedded_too_large(model: Any) -> None:
    model.embedding.weight.data *= 1.001


def another_epsilon(model: Any) -> None:
    for layer in model.decoder:
        layer.ffn_norm.norm.eps = 1e-3


def heads_swapped(model: Any) -> None:
    weight = model.encoder[0].self_attention.W_v.weight
    weight.data = weight.data.roll(32, 0)


def no_bias(model: Any) -> None:
    model.encoder[1].ffn.W_2.bias.data *= 0


# Each mistake, and the first name of a trace that then differs.
WRONG: dict[Callable[[Any], None], str] = {
    unscaled: "decoder.0.cross.scores",
    slightly_off: "encoder.2.self.scores",
    norm_first: "encoder.0.self.q",
    one_too_far: "source.position",
    sines_then_cosines: "target.position",
    sees_the_future: "decoder.0.self.mask",
    embedded_too_large: "source.embedding",
    another_epsilon: "decoder.0.ffn.norm",
    heads_swapped: "encoder.0.self.v",
    no_bias: "encoder.1.ffn.output",
}


@pytest.mark.parametrize("mistake", WRONG, ids=lambda one: one.__name__)
def test_a_wrong_equation_is_detected_at_its_name(
    witness: NumpyTransformer, mistake: Callable[[Any], None]
) -> None:
    adapter = opened()
    mistake(adapter.model)
    [trace] = answered(adapter, [REQUESTS[2]])
    found = apart(trace, witnessed(witness, trace))
    assert next(name for name in trace if name in found) == WRONG[mistake]


def test_a_bias_of_the_keys_changes_no_weight(witness: NumpyTransformer) -> None:
    """Bundles are written without this bias, but older ones may have it."""
    adapter = opened()
    for name, parameter in adapter.model.named_parameters():
        if name.endswith("W_k.bias"):
            torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(0))
    [trace] = answered(adapter, [REQUESTS[2]])
    expected = witnessed(witness, trace)
    found = apart(trace, expected)
    assert {name.rpartition(".")[2] for name in found} == {"k", "scores"}
    for name in found:
        free = {"k": -2, "scores": -1}[name.rpartition(".")[2]]  # the axis of the keys
        off = np.asarray(trace[name]) - expected[name]
        assert np.ptp(off, axis=free).max() < NEAR
