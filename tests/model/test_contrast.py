"""Why one token rather than another: sums, lens and slopes, each computed in another way."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Patch, Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import CHECKPOINTS, load_bundle
from model.errors import InputError
from model.trace.interventions import Cell, Intervention
from tests.model.numpy_reference import NumpyTransformer
from tests.model.test_inside import SENTENCE, TERMS, TOLERANCE, Array, array, exact, model, written

__all__ = ["exact", "model"]  # fixtures
RUNNER_UP, NAMED = "inside.contrast.runner-up", "inside.contrast.77"
MADE = (Intervention("decoder.0.cross", "zero", 1), Intervention("decoder.1.self", "uniform", 0))


def terms(trace: Trace, prefix: str) -> Array:
    """Return the sum of all contributions to each row's contrast."""
    rows = len(trace.texts["target"])
    each = [array(trace, f"{prefix}.{term}").reshape(-1, rows).sum(0) for term in TERMS]
    summed: Array = np.array(each).sum(axis=0)
    return summed


def rivals(logits: Array, ids: list[int]) -> list[int]:
    """Return the most probable token of each row other than the written one."""
    order = np.argsort(-logits, axis=-1)
    return [
        next(int(id_) for id_ in row if id_ != own) for row, own in zip(order, ids, strict=True)
    ]


@pytest.mark.parametrize("made", [(), MADE], ids=["plain", "changed"])
def test_contributions_add_up_to_the_log_odds(
    model: EncoderDecoder, made: tuple[Intervention, ...]
) -> None:
    select = ["decoder.logits", f"{RUNNER_UP}.*", f"{NAMED}.*"]
    trace = model.trace(replace(SENTENCE, interventions=made), select=select)
    ids, logits = written(trace), array(trace, "decoder.logits")
    rows = range(len(ids))
    for prefix, against in ((RUNNER_UP, rivals(logits, ids)), (NAMED, [77] * len(ids))):
        assert array(trace, f"{prefix}.candidates").tolist() == against
        odds = logits[rows, ids] - logits[rows, against]
        np.testing.assert_allclose(array(trace, f"{prefix}.total"), odds, atol=1e-5)
        np.testing.assert_allclose(terms(trace, prefix), odds, atol=TOLERANCE)
        np.testing.assert_allclose(array(trace, f"{prefix}.lens")[-1], odds, atol=1e-5)
        assert set(against) <= trace.pieces.keys()


def test_it_is_the_difference_of_two_logits_part_by_part(model: EncoderDecoder) -> None:
    """The contributions to a token's logit, with the other token written in its place."""
    select = [f"inside.logit.{term}" for term in TERMS]
    trace = model.trace(SENTENCE, select=[*select, f"{NAMED}.*"])
    ids = written(trace)
    last = len(ids) - 1  # what a last row writes, no other row reads
    forced = replace(SENTENCE.decode, prefix=(*ids[:last], 77), max_tokens=len(ids))
    other = model.trace(replace(SENTENCE, target=None, decode=forced), select=select)
    for term in TERMS:
        mine, theirs = (array(one, f"inside.logit.{term}")[..., last] for one in (trace, other))
        found = array(trace, f"{NAMED}.{term}")[..., last]
        np.testing.assert_allclose(found, mine - theirs, atol=1e-5, err_msg=term)


def test_the_shipped_model_against_an_independent_one() -> None:
    """In NumPy and float64: each layer's stream, and the sum."""
    shipped = EncoderDecoder(load_bundle(CHECKPOINTS / "en-zh"), "en-zh")
    trace = shipped.trace("My father is a teacher.", select=[f"{RUNNER_UP}.*"])
    ids = {text: [token.id for token in tokens] for text, tokens in trace.texts.items()}
    run = NumpyTransformer(CHECKPOINTS / "en-zh").run(ids["source"], ids["target"])
    wrote = written(trace)
    rows, against = range(len(wrote)), rivals(run["decoder.logits"], wrote)
    assert array(trace, f"{RUNNER_UP}.candidates").tolist() == against
    odds = run["decoder.logits"][rows, wrote] - run["decoder.logits"][rows, against]
    np.testing.assert_allclose(terms(trace, RUNNER_UP), odds, atol=TOLERANCE)
    matrix = shipped.model.embedding.weight.detach().double().numpy()
    for layer, found in enumerate(array(trace, f"{RUNNER_UP}.lens")):
        read = run[f"decoder.{layer}.ffn.norm"] @ matrix.T
        np.testing.assert_allclose(found, read[rows, wrote] - read[rows, against], atol=TOLERANCE)


@pytest.mark.parametrize("place", ["encoder.1.self", "decoder.0.self", "decoder.1.cross"])
@pytest.mark.parametrize(("prefix", "row"), [(RUNNER_UP, 2), (NAMED, 3)])
def test_the_gradient_of_a_row_is_the_slope_at_each_weight(
    exact: EncoderDecoder, place: str, prefix: str, row: int
) -> None:
    """Central differences of this row's log-odds."""
    name = f"{prefix}.{row}.{place}"
    trace = exact.trace(SENTENCE, select=[name, f"{place}.weights", f"{prefix}.candidates"])
    found, weights = trace[name].value, trace[f"{place}.weights"].value
    own, other = written(trace)[row], int(trace[f"{prefix}.candidates"].value[row])
    step = 1e-5

    def odds(head: int, query: int, key: int, weight: float) -> float:
        made = (Intervention(place, "set", head, Cell(query, key, weight)),)
        run = exact.trace(SENTENCE, select="decoder.logits", interventions=made)
        logits = run["decoder.logits"].value[row]
        return float(logits[own] - logits[other])

    for head, query, key in [(0, 1, 0), (1, 2, 1), (3, 3, 3), (2, 3, 0)]:
        at = float(weights[head, query, key])
        slope = (odds(head, query, key, at + step) - odds(head, query, key, at - step)) / (2 * step)
        assert float(found[head, query, key]) == pytest.approx(slope * at, abs=1e-7)


def test_it_is_the_same_in_any_company(model: EncoderDecoder) -> None:
    select = (f"{RUNNER_UP}.*", f"{NAMED}.self", f"{RUNNER_UP}.2.decoder.*")
    one = replace(SENTENCE, select=select)
    alone = model.trace(one)
    others = [Request("I don't know who she is.", target="我不知道她是谁。", select=select)] * 3
    padded, *_, together = model.run([replace(one, pad_to=14), *others, one])
    for name in alone:
        cut = tuple(slice(size) for size in alone[name].shape)
        for run in (padded, together):
            value = run[name].value[cut]
            torch.testing.assert_close(value, alone[name].value, atol=1e-5, rtol=1e-3, msg=name)
    count = len(alone.texts["target"])
    assert padded[f"{NAMED}.self"].value[..., count:].isnan().all()
    assert padded[f"{RUNNER_UP}.lens"].value[..., count:].isnan().all()
    beyond = f"{RUNNER_UP}.12.decoder.0.self"
    assert model.trace(replace(one, pad_to=14), select=beyond)[beyond].value.isnan().all()


@pytest.mark.parametrize(
    ("select", "kind"),
    [
        ("inside.contrast.first.self", "unknown-tensor"),
        ("inside.contrast.runner-up.nothing", "unknown-tensor"),
        ("inside.contrast.99999999.self", "out-of-range"),
        ("inside.contrast.runner-up.99.decoder.0.self", "out-of-range"),
    ],
)
def test_what_is_not_there_is_named(model: EncoderDecoder, select: str, kind: str) -> None:
    with pytest.raises(InputError) as caught:
        model.check(replace(SENTENCE, select=("*.weights", select)))
    assert (caught.value.kind, caught.value.field) == (kind, "select[1]")


def test_it_is_only_there_when_it_is_named_and_a_sum(model: EncoderDecoder) -> None:
    assert not any(".contrast." in name for name in model.trace(SENTENCE, select=["inside.*"]))
    many = tuple(f"inside.contrast.{id_}.lens" for id_ in range(9))
    with pytest.raises(InputError, match="at most 8"):
        model.check(replace(SENTENCE, select=many))
    patch = Intervention("decoder.1.ffn.norm", "patch", None, Patch(SENTENCE))
    patched = replace(SENTENCE, interventions=(patch,), select=(f"{RUNNER_UP}.self",))
    with pytest.raises(InputError, match="are not these sums"):
        model.check(patched)
