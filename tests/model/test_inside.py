"""Inside a run: the lens, contributions and relevance, each computed in another way."""

from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import load_bundle
from model.errors import InputError
from model.trace.interventions import Cell, Intervention
from model.trace.tensor_names import ATTRIBUTIONS
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer

Array = NDArray[np.float64]
SENTENCE = Request("The cat sat.", target="猫坐在这")
TERMS = ("self", "cross", "ffn", "bias", "norm", "embedding", "position")
TOLERANCE = 1e-4  # of a sum of contributions, logits


def shaken(model: Transformer) -> Transformer:
    """Return a copy whose norms and biases differ from their initial values."""
    model = deepcopy(model)
    for parameter in model.parameters():
        if parameter.dim() == 1:
            torch.nn.init.normal_(parameter, mean=float(parameter.detach().mean()), std=0.3)
    return model


@pytest.fixture(scope="module", params=["post", "pre"])
def model(bundle: Path, request: pytest.FixtureRequest) -> EncoderDecoder:
    torch.manual_seed(1)
    loaded = load_bundle(bundle)
    if request.param == "pre":
        loaded = replace(loaded, model=Transformer(replace(loaded.model.config, norm="pre")).eval())
    return EncoderDecoder(replace(loaded, model=shaken(loaded.model)), "shaken")


@pytest.fixture(scope="module")
def exact(bundle: Path) -> EncoderDecoder:
    """The same model in double precision, for finite differences."""
    torch.manual_seed(1)
    loaded = load_bundle(bundle)
    return EncoderDecoder(replace(loaded, model=shaken(loaded.model).double()), "exact")


def is_pre(model: EncoderDecoder) -> bool:
    return model.model.config.norm == "pre"


def array(trace: Trace, name: str) -> Array:
    found: Array = trace[name].value.double().numpy()
    return found


def written(trace: Trace) -> list[int]:
    return [token.id for token in trace.output.tokens]


def logits(trace: Trace) -> Array:
    """Return the logit of each output token."""
    ids = written(trace)
    found: Array = array(trace, "decoder.logits")[range(len(ids)), ids]
    return found


def total(trace: Trace) -> Array:
    """Return the sum of all contributions to each row's logit."""
    rows = len(trace.texts["target"])
    terms = [array(trace, f"inside.logit.{term}").reshape(-1, rows).sum(0) for term in TERMS]
    summed: Array = np.array(terms).sum(axis=0)
    return summed


def test_it_is_only_there_when_it_is_named(model: EncoderDecoder) -> None:
    everything = model.trace(SENTENCE, select="*")
    assert not [name for name in everything if name.startswith("inside")]
    inside = model.trace(SENTENCE, select=["inside.*"])
    cheap = [name for name in model.selectable if name not in ATTRIBUTIONS]
    assert list(inside) == [name for name in cheap if name.startswith("inside.")]
    assert len(list(inside)) == 4 + 8 + 6 + 2
    with pytest.raises(InputError, match="names no tensor"):
        model.trace(SENTENCE, select=["*.lens.*"])


def test_recording_inside_tensors_changes_nothing(model: EncoderDecoder) -> None:
    plain = model.trace(SENTENCE, select=["*", "decoder.logits"])
    looked = model.trace(SENTENCE, select=["*", "decoder.logits", "inside.*"])
    assert looked.output == plain.output
    for name in plain:
        assert torch.equal(plain[name].value, looked[name].value), name


def test_the_lens_of_the_last_layer_is_what_the_model_says(model: EncoderDecoder) -> None:
    trace = model.trace(SENTENCE, select=["inside.lens.*", "decoder.*"])
    assert trace["inside.lens.probabilities"].dims == ("layer", "query", "rank")
    last = array(trace, "inside.lens.probabilities")[-1]
    np.testing.assert_allclose(last, array(trace, "decoder.probabilities"), atol=1e-6)
    ids = trace["inside.lens.candidates"].value[-1]
    assert torch.equal(ids, trace["decoder.candidates"].value)
    spoken = array(trace, "inside.lens.written")[-1]
    np.testing.assert_allclose(np.log(spoken), trace.output.logprobs, atol=1e-5)
    assert tuple(trace["inside.lens.rank"].value[-1].tolist()) == trace.output.ranks


def test_the_lens_reads_every_layer_through_the_output_matrix(model: EncoderDecoder) -> None:
    trace = model.trace(SENTENCE, select=["inside.lens.*", "decoder.*.ffn.*"])
    given = {n: t.value.double().numpy() for n, t in model.parameters(["*", "embedding"]).items()}
    for layer in range(2):
        stream = array(trace, f"decoder.{layer}.ffn.norm")
        if is_pre(model):
            x = array(trace, f"decoder.{layer}.ffn.residual")
            x = x - x.mean(-1, keepdims=True)
            stream = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)
            stream = stream * given["decoder.gain"] + given["decoder.bias"]
        scores = stream @ given["embedding"].T
        chances = np.exp(scores - scores.max(-1, keepdims=True))
        chances /= chances.sum(-1, keepdims=True)
        best = np.sort(chances, axis=-1)[:, ::-1][:, :10]
        np.testing.assert_allclose(
            array(trace, "inside.lens.probabilities")[layer], best, atol=1e-6
        )
        own = chances[range(len(chances)), written(trace)]
        np.testing.assert_allclose(array(trace, "inside.lens.written")[layer], own, atol=1e-6)
        ranks = 1 + (chances > own[:, None]).sum(-1)
        assert trace["inside.lens.rank"].value[layer].tolist() == ranks.tolist()


INTERVENTIONS = [
    Intervention("decoder.0.self", "zero", 1),
    Intervention("decoder.1.cross", "uniform"),
    Intervention("decoder.1.cross", "set", None, Cell(2, 1, 0.9, renormalise=True)),
    Intervention("decoder.0.cross", "temperature", 2, 3.0),
    Intervention("decoder.0.self", "cut", 1, (1, 0)),
    Intervention("source", "mask", value=1),
    Intervention("target.position", "drop"),
    Intervention("decoder.0.self.residual", "drop"),
    Intervention("decoder.0.cross.residual", "drop"),
    Intervention("decoder.1.ffn.residual", "drop"),
    Intervention("encoder.1.self", "freeze", 0, Request("A dog.", target="狗")),
]
KINDS = [(), *[(one,) for one in INTERVENTIONS], tuple(INTERVENTIONS)]
SEEN = ("inside.logit.*", "decoder.logits")


def test_contributions_add_up_under_interventions(model: EncoderDecoder) -> None:
    for trace in model.run([replace(SENTENCE, select=SEEN, interventions=one) for one in KINDS]):
        for summed in (total(trace), array(trace, "inside.logit.total")):
            np.testing.assert_allclose(summed, logits(trace), atol=TOLERANCE)


def test_contributions_add_up_at_every_length(model: EncoderDecoder) -> None:
    requests = [
        Request("猫" * length, target="狗" * (61 - length), select=SEEN)
        for length in range(1, 61, 3)
    ]
    for trace in model.run(requests):
        np.testing.assert_allclose(total(trace), logits(trace), atol=TOLERANCE)


# d_model, heads, d_ff, decoder layers
SHAPES = [(2, 1, 1, 1), (8, 8, 3, 2), (24, 3, 50, 5), (64, 4, 128, 3), (256, 8, 64, 8)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_contributions_add_up_in_models_of_any_size(
    bundle: Path, shape: tuple[int, int, int, int]
) -> None:
    torch.manual_seed(2)
    loaded = load_bundle(bundle)
    d_model, heads, d_ff, layers = shape
    config = ModelConfig(loaded.model.config.vocabulary, d_model, heads, d_ff, 1, layers)
    made = EncoderDecoder(replace(loaded, model=shaken(Transformer(config)).eval()), "made")
    trace = made.trace(SENTENCE, select=SEEN)
    np.testing.assert_allclose(total(trace), logits(trace), atol=TOLERANCE)


def test_a_head_is_carried_through_every_norm_behind_it(model: EncoderDecoder) -> None:
    """Compute forwards, with matrices, what the model's code computes backwards."""
    trace = model.trace(SENTENCE, select=["*", "inside.logit.*"])
    given = {n: t.value.double().numpy() for n, t in model.parameters(["*", "embedding"]).items()}
    sublayers = [f"decoder.{layer}.{name}" for layer in (0, 1) for name in ("self", "cross", "ffn")]
    width, head, row = 32, 2, 3
    e = given["embedding"][written(trace)[row]]
    for index, place in enumerate(sublayers):
        if place.endswith("ffn"):
            continue
        rows = slice(head * 8, head * 8 + 8)
        carried = array(trace, f"{place}.mix")[head, row] @ given[f"{place}.W_o"][rows]
        # The norms after it: one per sublayer, or only the last one.
        behind = [(later, f"{later}.gain") for later in sublayers[index:]]
        for later, gain in [(sublayers[-1], "decoder.gain")] if is_pre(model) else behind:
            residual = array(trace, f"{later}.residual")[row]
            centre = np.eye(width) - 1 / width
            carried = carried @ centre / np.sqrt(residual.var() + 1e-5) * given[gain]
        _, layer, name = place.split(".")
        found = array(trace, f"inside.logit.{name}")[int(layer), head, row]
        assert found == pytest.approx(carried @ e, abs=1e-6)


def test_rows_of_padding_write_nothing(model: EncoderDecoder) -> None:
    alone, padded = (
        model.trace(SENTENCE, select=["inside.*"], pad_to=length) for length in (None, 12)
    )
    count = len(alone.texts["target"])
    for name in alone:
        cut = tuple(
            slice(n) if dim in ("query", "key") else slice(None)
            for dim, n in zip(alone[name].dims, alone[name].shape, strict=True)
        )
        torch.testing.assert_close(
            padded[name].value[cut], alone[name].value, atol=1e-5, rtol=1e-4, msg=name
        )
    assert padded["inside.logit.self"].value[..., count:].isnan().all()
    assert padded["inside.lens.written"].value[..., count:].isnan().all()
    assert not padded["inside.lens.rank"].value[..., count:].any()


@pytest.mark.parametrize(
    "place", ["encoder.0.self", "encoder.1.self", "decoder.0.self", "decoder.1.cross"]
)
def test_relevance_is_the_slope_at_each_weight(exact: EncoderDecoder, place: str) -> None:
    """Compare with central differences: change one weight slightly up and down."""
    trace = exact.trace(SENTENCE, select=[f"inside.relevance.{place}", f"{place}.weights"])
    found, weights = trace[f"inside.relevance.{place}"].value, trace[f"{place}.weights"].value
    step = 1e-5
    for head, query, key in [(0, 1, 0), (1, 2, 1), (3, 3, 3), (2, 3, 0)]:
        weight = float(weights[head, query, key])
        ends = [
            sum(
                exact.trace(
                    SENTENCE,
                    select=(),
                    interventions=[Intervention(place, "set", head, Cell(query, key, weight + by))],
                ).output.logprobs
            )
            for by in (step, -step)
        ]
        slope = (ends[0] - ends[1]) / (2 * step)
        assert float(found[head, query, key]) == pytest.approx(slope * weight, abs=1e-7)


def test_relevance_of_what_is_masked_is_nothing(model: EncoderDecoder) -> None:
    trace = model.trace(SENTENCE, select=["inside.relevance.*", "decoder.0.self.mask"])
    hidden = ~trace["decoder.0.self.mask"].value
    found = trace["inside.relevance.decoder.0.self"].value
    assert hidden.any()
    assert not found[:, hidden].any()
    assert found[:, ~hidden].any()


def test_relevance_in_a_batch_is_that_of_each_alone(model: EncoderDecoder) -> None:
    asked = [replace(SENTENCE, interventions=made) for made in KINDS]
    asked.append(Request("I don't know who she is.", target="我不知道她是谁。"))
    asked = [replace(request, select=("inside.relevance.*",)) for request in asked]
    silent = Request("A dog", target="狗", select=())
    alone = [model.trace(request) for request in asked]
    _, *together = model.run([silent, *asked])
    for lone, found in zip(alone, together, strict=True):
        assert list(found) == list(lone)
        for name in lone:
            torch.testing.assert_close(
                found[name].value, lone[name].value, atol=1e-5, rtol=1e-3, msg=name
            )


def test_gradients_do_not_leak_to_other_requests(model: EncoderDecoder) -> None:
    asked = [
        replace(SENTENCE, select=select, interventions=made)
        for made in ((), (Intervention("decoder.0.cross", "zero", 1),))
        for select in (("inside.*",), ("*.weights",))
    ] * 3
    alone = [model.trace(request) for request in asked]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda request: model.trace(request), asked))
    for lone, found in zip(alone, together, strict=True):
        for name in lone:
            torch.testing.assert_close(found[name].value, lone[name].value, atol=1e-6, rtol=1e-5)
    assert all(parameter.grad is None for parameter in model.model.parameters())
    values = [tensor.value for trace in together for tensor in trace.tensors.values()]
    assert not any(value.requires_grad for value in values)
