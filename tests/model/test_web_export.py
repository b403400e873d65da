"""The exported graphs against PyTorch: every tensor, every change, decoding with the cache."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import CHECKPOINTS, load_bundle, save_bundle
from model.errors import FileError
from model.text.tokens import BOS, Tokenizer
from model.trace.interventions import Intervention
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer

pytest.importorskip("onnxscript")

from model.web.export import export_for_web
from model.web.graphs import graphs_of
from tests.model.onnx_model import Array, OnnxModel

SENTENCES = [
    "I see.",
    "我很累。",
    "The cat sat on the mat, and it didn't stop.",
    "Did they say who wrote the letter that we found in the old house?",
    "看著 Zoë 的 42 只猫 🐈。",
    "a",
]
ROUNDED = 1e-4  # of weights; of log-probabilities 1e-3


@pytest.fixture(scope="module")
def shipped() -> EncoderDecoder:
    return load("en-zh", "cpu")


@pytest.fixture(scope="module")
def graphs(exported: Path) -> OnnxModel:
    return OnnxModel(exported)


def source_ids(trace: Trace) -> list[int]:
    return [token.id for token in trace.texts["source"]]


def target_ids(trace: Trace) -> list[int]:
    return [token.id for token in trace.texts["target"]]


def run(
    graphs: OnnxModel,
    trace: Trace,
    changes: Mapping[str, Array] | None = None,
    visible: list[bool] | None = None,
) -> dict[str, Array]:
    """Run the texts of a trace; return the tensors without the batch axis."""
    read = graphs.read(source_ids(trace), changes, visible)
    scored = (
        graphs.score(read, target_ids(trace), changes=changes) if "decoder" in graphs.graphs else {}
    )
    return {name: value[0] for name, value in {**read, **scored}.items()}


def assert_same(tensors: Mapping[str, Array], trace: Trace) -> None:
    for name, tensor in trace.tensors.items():
        expected, actual = np.asarray(tensor), tensors[name]
        assert actual.shape == expected.shape, name
        if name.endswith(".candidates"):  # neighbours of equal probability may change places
            assert (actual == expected).mean() > 0.98, name
            continue
        size = (
            max(1.0, float(np.abs(expected[np.isfinite(expected)]).max())) if expected.size else 1.0
        )
        np.testing.assert_allclose(actual, expected, atol=ROUNDED * size, rtol=0, err_msg=name)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_every_tensor_is_that_of_pytorch(
    sentence: str, shipped: EncoderDecoder, graphs: OnnxModel
) -> None:
    trace = shipped.trace(sentence, select=("*", "decoder.logits"))
    tensors = run(graphs, trace)
    assert set(shipped.names) <= {*tensors}
    assert_same(tensors, trace)
    logprobs = [
        float(tensors["logprobs"][row, token.id]) for row, token in enumerate(trace.output.tokens)
    ]
    np.testing.assert_allclose(logprobs, trace.output.logprobs, atol=1e-3)


@pytest.mark.parametrize("sentence", SENTENCES)
def test_steps_with_the_cache_write_the_same_ids(
    sentence: str, shipped: EncoderDecoder, graphs: OnnxModel
) -> None:
    trace = shipped.trace(sentence, select=())
    tokenizer = shipped.tokenizer
    never = sorted(tokenizer.specials - {tokenizer.eos})
    ids = graphs.greedy(
        graphs.read(source_ids(trace)),
        tokenizer.control(BOS).id,
        tokenizer.eos,
        never,
        len(trace.output.tokens) + 1,
    )
    assert ids == [token.id for token in trace.output.tokens]


HEADS = np.arange(8)


def one_head(head: int, inside: float, outside: float) -> Array:
    """Return a change of a head of the second layer, (layers, batch, head, query, key)."""
    change = np.full((3, 1, 8, 1, 1), outside, np.float32)
    change[1, 0, head] = inside
    return change


def of_layer(layer: int, inside: float, outside: float, axes: int) -> Array:
    change = np.full((3, *[1] * axes), outside, np.float32)
    change[layer] = inside
    return change


def cut(query: int, key: int, source: int) -> Array:
    change = np.zeros((3, 1, 8, source, source), np.float32)
    change[1, 0, 2, query, key] = -np.inf
    return change


CHANGES: dict[str, tuple[Intervention, dict[str, Array]]] = {
    "zero": (
        Intervention("encoder.1.self", "zero", head=3),
        {"encoder.*.self.weights.scale": one_head(3, 0, 1)},
    ),
    "uniform": (
        Intervention("decoder.1.cross", "uniform", head=2),
        {"decoder.*.cross.scores.scale": one_head(2, 0, 1)},
    ),
    "temperature": (
        Intervention("decoder.1.self", "temperature", head=5, value=4.0),
        {"decoder.*.self.scores.scale": one_head(5, 0.25, 1)},
    ),
    "cut": (
        Intervention("encoder.1.self", "cut", head=2, value=(3, 1)),
        {"encoder.*.self.scores.bias": cut(3, 1, 15)},
    ),
    "scale": (
        Intervention("encoder.0.ffn.output", "scale", value=0.5),
        {"encoder.*.ffn.output.scale": of_layer(0, 0.5, 1, 3)},
    ),
    "fill": (
        Intervention("decoder.2.ffn.hidden", "fill", value=0.125),
        {
            "decoder.*.ffn.hidden.scale": of_layer(2, 0, 1, 3),
            "decoder.*.ffn.hidden.bias": of_layer(2, 0.125, 0, 3),
        },
    ),
    "drop": (
        Intervention("decoder.1.cross.residual", "drop"),
        {"decoder.*.cross.residual.keep": of_layer(1, 0, 1, 3)},
    ),
    "positions": (
        Intervention("source.position", "drop"),
        {"source.position.scale": np.zeros((1, 1, 1, 1))},
    ),
}


@pytest.mark.parametrize("effect", CHANGES)
def test_a_change_is_an_input(effect: str, shipped: EncoderDecoder, graphs: OnnxModel) -> None:
    intervention, changes = CHANGES[effect]
    trace = shipped.trace(SENTENCES[2], interventions=[intervention], select=("*",))
    assert len(trace.texts["source"]) == 15
    unchanged = shipped.trace(SENTENCES[2], target=trace.output.text, select=("*",))
    first, second = (np.asarray(run["decoder.2.ffn.norm"])[1] for run in (trace, unchanged))
    assert np.abs(first - second).max() > 1e-3
    assert_same(run(graphs, trace, changes), trace)


def test_a_token_is_hidden(shipped: EncoderDecoder, graphs: OnnxModel) -> None:
    hidden = [Intervention("source", "mask", value=2)]
    trace = shipped.trace(SENTENCES[2], interventions=hidden, select=("*",))
    visible = [index != 2 for index in range(len(trace.texts["source"]))]
    assert_same(run(graphs, trace, visible=visible), trace)


def test_a_batch_has_a_change_for_each_row(shipped: EncoderDecoder, graphs: OnnxModel) -> None:
    """As a sweep over heads needs: one pass, each row without another head."""
    trace = shipped.trace(SENTENCES[0])
    ids = np.array([source_ids(trace)] * 3)
    texts = {"source": ids, "source.real": ids > 0, "source.visible": ids > 0}
    scale = np.ones((3, 3, 8, 1, 1), np.float32)
    scale[0, 0, 4] = scale[2, 1, 7] = 0
    memory = graphs.run("encoder", texts, {"encoder.*.self.weights.scale": scale})["memory"]
    for row, change in enumerate([("encoder.0.self", 4), ("encoder.2.self", 7), None]):
        interventions = [Intervention(change[0], "zero", head=change[1])] if change else []
        expected = shipped.trace(
            SENTENCES[0], target="我", interventions=interventions, select=("encoder.2.ffn.norm",)
        )
        np.testing.assert_allclose(
            memory[row], np.asarray(expected["encoder.2.ffn.norm"]), atol=1e-4
        )


def test_the_weights_are_the_bundle_s_own(exported: Path, graphs: OnnxModel) -> None:
    bundle = load_bundle(CHECKPOINTS / "en-zh")
    assert graphs.digest == bundle.digest == load_bundle(exported).digest
    assert (exported / "weights.safetensors").stat().st_size <= 16_000_000
    assert sum((exported / f"{name}.onnx").stat().st_size for name in graphs.graphs) < 500_000


# A graph takes seconds to export, so the second variant only reads: what it adds is in both stacks.
@pytest.mark.parametrize(
    ("variant", "exported_graphs", "select"),
    [
        (
            {
                "norm": "pre",
                "positions": "rotary",
                "scoring": "additive-bias",
                "bias": False,
                "encoder_mask": "window-3",
                "encoder_heads": 2,
            },
            2,
            "*",
        ),
        ({"positions": "learned-on-qk"}, 1, "encoder.*"),
    ],
)
def test_variants(
    variant: dict[str, object],
    exported_graphs: int,
    select: str,
    tokenizer: Tokenizer,
    config: ModelConfig,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "model.web.export.graphs_of", lambda model: graphs_of(model)[:exported_graphs]
    )
    monkeypatch.setattr("model.web.export.derived_graphs", lambda *_: ())
    monkeypatch.setattr("model.web.export.write_patterns", lambda _: ([], {}))  # as of any model
    torch.manual_seed(1)
    one_layer = {"encoder_layers": 1, "decoder_layers": 1}
    other = ModelConfig(**{**config.to_json(), **one_layer, **variant})
    save_bundle(tmp_path / "it", Transformer(other).state_dict(), other, tokenizer, "Variant")
    list(export_for_web(tmp_path / "it", tmp_path / "web"))
    adapter, graphs = load(tmp_path / "it", "cpu"), OnnxModel(tmp_path / "web")
    for sentence in SENTENCES[:3]:
        trace = adapter.run([Request(sentence, target=sentence, select=(select,))])[0]
        assert "encoder.0.self.weights" in trace
        assert_same(run(graphs, trace), trace)


def test_large_weights_are_refused(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("model.web.export.MAX_PAGE_BYTES", 1_000)
    with pytest.raises(FileError, match=r"a page loads at most 1,000\. Store the weights"):
        list(export_for_web(bundle, tmp_path / "web"))
    assert not (tmp_path / "web").exists()
