"""Changes that a tensor cannot take: each is refused by its field, with the limit."""

from dataclasses import replace

import pytest

from model.adapters.encoder_decoder.description import attentions
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Request, Step, TokenOf
from model.adapters.requests.validate import check_interventions
from model.errors import InputError
from model.trace.interventions import Intervention
from model.trace.tensor_tap import FEATURE, HEAD, KEY, QUERY, SOURCE, TARGET
from tests.time_growth import worse_than_linear

CAT, DOG = Request("The cat sat.", target="猫坐在这"), Request("A dog sat.", target="狗坐在这")
VECTOR = (1.0,) * 32  # as many numbers as d_model of the tiny model


do = Intervention
RANGE, PLACE, FIELD = "out-of-range", "unknown-place", "unknown-field"
OUTPUT = "encoder.0.ffn.output"


@pytest.mark.parametrize(
    ("made", "kind", "field", "words"),
    [
        (do("encoder.0.ffn", "zero"), PLACE, "at", "such as"),
        (do("encoder.0.self", "scale", 1, 2.0), PLACE, "at", "such as"),
        (do("encoder.0.self.scores", "scale", 1, 2.0), PLACE, "at", "such as"),
        (do("decoder.logits", "fill", value=2.0), PLACE, "at", "such as"),
        (do("encoder.0.self.output", "zero", 1), FIELD, "head", "must be left out"),
        (do("encoder.0.self.mix", "zero", 4), RANGE, "head", "from 0 to 3"),
        (do("encoder.0.self.mix", "zero", 1, heads=(2,)), FIELD, "heads", "or one is named"),
        (do("encoder.0.self", "zero", heads=()), "too-short", "heads", "no entries"),
        (do("encoder.0.self", "zero", heads=(0, 7)), RANGE, "heads[1]", "from 0 to 3"),
        (do("encoder.0.self", "zero", heads=(2, 2)), RANGE, "heads[1]", "not listed yet"),
        (do(OUTPUT, "zero", rows=(9,)), RANGE, "rows[0]", "from 0 to"),
        (do("encoder.0.self", "cut", 1, (0, 0), rows=(1,)), FIELD, "rows", "row"),
        (
            do("encoder.0.ffn.hidden", "fill", value=1.0, units=(64,)),
            RANGE,
            "units[0]",
            "from 0 to 63",
        ),
        (
            do("encoder.0.self.mix", "fill", value=1.0, units=(0,)),
            FIELD,
            "units",
            "not of features",
        ),
        (do(OUTPUT, "scale", value=101.0), RANGE, "do.scale", "from -100.0 to 100.0"),
        (do(OUTPUT, "fill", value=float("nan")), RANGE, "do.fill", "from -10000.0 to 10000.0"),
        (
            do(OUTPUT, "add", value=VECTOR[1:]),
            "does-not-fit",
            "do.add",
            "31 numbers; encoder.0.ffn.output has 32",
        ),
        (
            do(OUTPUT, "add", value=(*VECTOR[1:], 1e6)),
            RANGE,
            "do.add[31]",
            "from -10000.0 to 10000.0",
        ),
        (do("encoder.0.self.v", "add", value=VECTOR), PLACE, "do.add", "encoder.0.self.v is not"),
        (do(OUTPUT, "add", value=Step(TokenOf(DOG, 99))), RANGE, "do.add.to.row", "from 0 to"),
        (
            do(OUTPUT, "add", value=Step(TokenOf(DOG, 0), None, 200.0)),
            RANGE,
            "do.add.times",
            "from -100.0 to 100.0",
        ),
        (
            do(OUTPUT, "add", value=Step(TokenOf(DOG, 0), TokenOf(Request(" "), 0))),
            "empty-text",
            "do.add.minus.source",
            "is empty",
        ),
        (do("encoder.0.self", "cut", 1, ()), "too-short", "do.cut", "no edges"),
        (do("encoder.0.self", "cut", 1, ((0, 0), (0, 99))), RANGE, "do.cut[1][1]", "from 0 to"),
    ],
    ids=str,
)
def test_invalid_changes_are_named(
    tiny: EncoderDecoder, made: Intervention, kind: str, field: str, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        tiny.check(replace(CAT, interventions=(made,)))
    assert (caught.value.kind, caught.value.field) == (kind, f"interventions[0].{field}")


def test_names_are_checked_before_numbers(tiny: EncoderDecoder) -> None:
    edges = do("encoder.0.self", "cut", 1, ((0, 0), (0, 99)))
    with pytest.raises(InputError) as caught:
        tiny.check(replace(CAT, interventions=(edges, do("nowhere", "zero"))))
    assert (caught.value.kind, caught.value.field) == (PLACE, "interventions[1].at")


@pytest.mark.parametrize("made", [do(OUTPUT, "zero"), do("encoder.0.self", "cut")], ids=str)
def test_long_lists_are_checked_in_linear_time(made: Intervention) -> None:
    """Every unit of a wide network, or every edge of a long text; the last one does not exist."""
    dims = {OUTPUT: (SOURCE, FEATURE), "encoder.0.self.scores": (HEAD, QUERY, KEY)}
    lengths, attentions_ = {SOURCE: 100_000, TARGET: 1}, tuple(attentions(1, 1, 1))

    def refused(text: str) -> None:
        last = len(text)
        units = tuple(range(last + 1))
        edges = tuple((n, n) for n in (*range(last), 100_000))
        change = replace(made, value=edges) if made.do == "cut" else replace(made, units=units)
        with pytest.raises(InputError, match=r"\[\d+\]"):
            check_interventions([change], dims, attentions_, lengths, {OUTPUT: last})

    assert worse_than_linear([(made.do, refused, lambda size: " " * (4 * size))]) == []
