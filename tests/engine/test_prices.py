"""Prices and budgets, computed by hand."""

import math
from dataclasses import replace
from typing import Any

import pytest

from app.engine.fair_queue import Budgets, Client, SpentError
from app.engine.jobs import lengths, price, size
from app.engine.streamed_replies import DecodeJob, SweepJob
from model.adapters.encoder_decoder.description import attentions
from model.adapters.requests.request import Decode, Patch, Receiver, Request
from model.explain.attribution import STEPS
from model.trace.interventions import Intervention
from model.trace.tensor_names import GRADIENT_INPUT, OCCLUSION
from tests.serving.slow import Slow
from tests.serving.small_engine import job

# Two encoder and three decoder layers, two heads each: 4 + 6 + 6 heads.
INFO = replace(Slow.info, attentions=tuple(attentions(2, 3, 2)), max_tokens=100)
SHORT = Request("The cat sat.", target="猫坐了。")  # 2 + 12 · 0.4 = 6.8 and 2 + 4 = 6 tokens
READ, WRITTEN = 6.8, 6.0
PASS = 2 * READ + 3 * WRITTEN
ZERO = Intervention("encoder.0.self", "zero")


def of(request: Request) -> float:
    return price(replace(job(""), request=request), INFO)


def test_a_pass_is_layers_times_tokens() -> None:
    assert lengths(SHORT, INFO) == pytest.approx((READ, WRITTEN))
    assert size(replace(job(""), request=SHORT), INFO) == pytest.approx(READ + WRITTEN)
    for pattern in ("inside.relevance.*", "inside.rel*", OCCLUSION, GRADIENT_INPUT):
        assert size(replace(job(""), request=replace(SHORT, select=(pattern,))), INFO) == math.inf
    assert of(SHORT) == pytest.approx(PASS)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"pad_to": 32}, 2 * 32 + 3 * 32),
        ({"pad_to": 5}, PASS),
        ({"pad_to": 10**9}, 2 * 100 + 3 * 100),
        ({"source": "word " * 1_000}, 2 * 100 + 3 * WRITTEN + 0.05 * (2_002 - 100)),
        ({"target": "字" * 500}, 2 * READ + 3 * 100 + 0.05 * (502 - 100)),
        ({"interventions": (ZERO, ZERO)}, PASS * 1.1),
        ({"select": ("inside.relevance.*", "inside.relevance.encoder.*")}, PASS * 4),
        ({"select": ("inside.rel*",)}, PASS * 4),
        ({"select": ("inside.?elevance.*.1.cross", "*.weights")}, PASS * 4),
        ({"select": ("inside.lens.*",)}, PASS),
        ({"select": ("*.q", "*.k", "*.v")}, PASS),
        ({"select": ("*.q",) * 100, "summarise": ("*",) * 24}, PASS + 0.5 * 120),
        ({"select": ("inside.contrast.7.self", "inside.contrast.7.lens")}, PASS),
        ({"select": ("inside.contrast.7.2.*", "inside.contrast.8.0.*")}, PASS * (1 + 2 * 3)),
        ({"select": ("inside.occlusion",)}, PASS * (1 + READ)),
        ({"select": ("inside.gradient-input",)}, PASS * (1 + WRITTEN)),
        ({"select": ("inside.integrated-gradients",)}, PASS * (1 + STEPS * WRITTEN)),
        ({"decode": Decode("beam", 8)}, PASS),
    ],
)
def test_options_that_make_a_pass_more_expensive(more: dict[str, Any], expected: float) -> None:
    assert of(replace(SHORT, **more)) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("decode", "written", "rows"),
    [
        (Decode(), READ + 50, 1),
        (Decode(beam=8), READ + 50, 1),
        (Decode("beam", 8), READ + 50, 8),
        (Decode("beam", 3, max_tokens=5), 5, 3),
        (Decode(max_tokens=10**6), READ + 50, 1),
    ],
)
def test_a_missing_target_counts_with_its_maximum_length(
    decode: Decode, written: float, rows: int
) -> None:
    request = replace(SHORT, target=None, decode=decode)
    expected = 2 * READ + 3 * written * rows + 2 * READ + 3 * written
    assert of(request) == pytest.approx(expected)
    longest = replace(request, source="word " * 1_000)
    assert lengths(longest, INFO)[1] == (decode.max_tokens if written == 5 else 100)
    writing = price(DecodeJob("0", request, 3), INFO)
    assert writing == pytest.approx(2 * READ + 3 * written * rows)
    changed = replace(request, interventions=(ZERO,))
    assert price(DecodeJob("0", changed, 3), INFO) == pytest.approx(writing * 1.05)


def test_a_frozen_sentence_costs_one_run() -> None:
    def freeze(source: str) -> Intervention:
        return Intervention("encoder.0.self", "freeze", 0, replace(SHORT, source=source))

    one = replace(SHORT, interventions=(freeze("The cat sat."),) * 2)
    assert of(one) == pytest.approx(PASS * 1.1 + PASS)
    two = replace(SHORT, interventions=(freeze("The cat sat."), freeze("The dog sat.")))
    assert of(two) == pytest.approx(PASS * 1.1 + 2 * PASS)
    # 16 heads, 768 // 12.8 = 60 rows in a batch: 16 / 60 batches, each with what is frozen.
    swept = price(SweepJob("0", one, "zero", None), INFO)
    expected = of(one) + 16 * PASS * 1.1 + 16 / 60 * PASS
    assert swept == pytest.approx(expected, rel=1e-3)
    assert price(SweepJob("0", SHORT, "zero", None), INFO) == pytest.approx(17 * PASS)
    # 16 heads alone and 120 pairs of them.
    pairs = price(SweepJob("0", SHORT, "zero", None, "pairs"), INFO)
    assert pairs == pytest.approx(137 * PASS)


def test_a_path_costs_a_run_of_its_own_and_one_without_it() -> None:
    def path(to: str) -> Intervention:
        patch = Patch(replace(SHORT, source="The dog sat."), None, Receiver(to))
        return Intervention("encoder.0.self.mix", "patch", 0, patch)

    one = replace(SHORT, interventions=(path("decoder.1.cross.k"),))
    once = PASS * 1.05
    assert of(one) == pytest.approx(once + PASS + 2 * once)
    two = replace(SHORT, interventions=(path("decoder.1.cross.k"), path("decoder.1.cross.v")))
    assert of(two) == pytest.approx(PASS * 1.1 + PASS + 3 * PASS * 1.1)
    effect = Patch(
        Request("The dog sat.", target=SHORT.target), None, Receiver("decoder.1.cross.k")
    )
    plain = replace(effect, to=None)
    swept, alone = (
        price(SweepJob("0", SHORT, each, None, "sublayers"), INFO) for each in (effect, plain)
    )
    assert 1.8 < swept / alone < 2.2


def test_an_addresss_budget_fills_as_fast_as_its_pages() -> None:
    now = 0.0
    budgets = Budgets(10, 100, 4, lambda: now)
    pages = [Client("a", n) for n in range(5)]
    for page in pages[:4]:
        budgets.charge(page, 100)
    with pytest.raises(SpentError) as spent:
        budgets.charge(pages[4], 50)  # it has not asked for anything, but its address has
    assert spent.value.retry_after == pytest.approx(50 / 40)
    now = 10.0
    for page in pages[:4]:
        budgets.charge(page, 100)
    now = 1e9
    for page in pages[:4]:
        budgets.charge(page, 100)  # an address holds no more than its pages may
    with pytest.raises(SpentError):
        budgets.charge(pages[4], 1)


def test_a_refused_request_costs_nothing() -> None:
    budgets = Budgets(10, 100, 4, lambda: 0.0)
    with pytest.raises(SpentError):
        budgets.charge(Client("a", 0), 101)
    budgets.charge(Client("a", 0), 100)


def test_a_client_without_a_token_is_the_first_page() -> None:
    assert Client.of("a", "", 4) == Client("a", 0)
    assert Client.of("a", "token", 4) == Client.of("a", "token", 4)
    assert {Client.of("a", str(n), 1).page for n in range(9)} == {0}


def test_a_model_of_one_text_writes_nothing() -> None:
    reads = replace(INFO, attentions=INFO.attentions[:2])
    assert len(reads.texts) == 1
    request = replace(SHORT, target=None)
    assert lengths(request, reads) == pytest.approx((READ, 0))
    assert price(replace(job(""), request=request), reads) == pytest.approx(2 * READ)
