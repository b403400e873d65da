"""Changes that a tensor cannot take: each is refused by its field, with the limit."""

from dataclasses import replace

import pytest

from model.adapters.encoder_decoder import EncoderDecoder
from model.adapters.other_runs import Step, TokenOf
from model.adapters.request import Request
from model.errors import InputError
from model.trace.interventions import Intervention

CAT, DOG = Request("The cat sat.", target="猫坐在这"), Request("A dog sat.", target="狗坐在这")
VECTOR = (1.0,) * 32  # as many numbers as d_model of the tiny model


@pytest.mark.parametrize(
    ("made", "kind", "field", "words"),
    [
        (Intervention("encoder.0.ffn", "zero"), "unknown-place", "at", "such as"),
        (Intervention("encoder.0.self", "scale", 1, 2.0), "unknown-place", "at", "such as"),
        (Intervention("encoder.0.self.scores", "scale", 1, 2.0), "unknown-place", "at", "such as"),
        (Intervention("decoder.logits", "fill", value=2.0), "unknown-place", "at", "such as"),
        (
            Intervention("encoder.0.self.output", "zero", 1),
            "unknown-field",
            "head",
            "must be left out",
        ),
        (Intervention("encoder.0.self.mix", "zero", 4), "out-of-range", "head", "from 0 to 3"),
        (
            Intervention("encoder.0.self.mix", "zero", 1, heads=(2,)),
            "unknown-field",
            "heads",
            "or one is named",
        ),
        (Intervention("encoder.0.self", "zero", heads=()), "too-short", "heads", "no entries"),
        (
            Intervention("encoder.0.self", "zero", heads=(0, 7)),
            "out-of-range",
            "heads[1]",
            "from 0 to 3",
        ),
        (
            Intervention("encoder.0.self", "zero", heads=(2, 2)),
            "out-of-range",
            "heads[1]",
            "not listed yet",
        ),
        (
            Intervention("encoder.0.ffn.output", "zero", rows=(9,)),
            "out-of-range",
            "rows[0]",
            "from 0 to",
        ),
        (
            Intervention("encoder.0.self", "cut", 1, (0, 0), rows=(1,)),
            "unknown-field",
            "rows",
            "row",
        ),
        (
            Intervention("encoder.0.ffn.hidden", "fill", value=1.0, units=(64,)),
            "out-of-range",
            "units[0]",
            "from 0 to 63",
        ),
        (
            Intervention("encoder.0.self.mix", "fill", value=1.0, units=(0,)),
            "unknown-field",
            "units",
            "not of features",
        ),
        (
            Intervention("encoder.0.ffn.output", "scale", value=101.0),
            "out-of-range",
            "do.scale",
            "from -100.0 to 100.0",
        ),
        (
            Intervention("encoder.0.ffn.output", "fill", value=float("nan")),
            "out-of-range",
            "do.fill",
            "from -10000.0 to 10000.0",
        ),
        (
            Intervention("encoder.0.ffn.output", "add", value=VECTOR[1:]),
            "does-not-fit",
            "do.add",
            "31 numbers; encoder.0.ffn.output has 32",
        ),
        (
            Intervention("encoder.0.ffn.output", "add", value=(*VECTOR[1:], 1e6)),
            "out-of-range",
            "do.add[31]",
            "from -10000.0 to 10000.0",
        ),
        (
            Intervention("encoder.0.self.v", "add", value=VECTOR),
            "unknown-place",
            "do.add",
            "encoder.0.self.v is not",
        ),
        (
            Intervention("encoder.0.ffn.output", "add", value=Step(TokenOf(DOG, 99))),
            "out-of-range",
            "do.add.to.row",
            "from 0 to",
        ),
        (
            Intervention("encoder.0.ffn.output", "add", value=Step(TokenOf(DOG, 0), None, 200.0)),
            "out-of-range",
            "do.add.times",
            "from -100.0 to 100.0",
        ),
        (
            Intervention(
                "encoder.0.ffn.output", "add", value=Step(TokenOf(DOG, 0), TokenOf(Request(" "), 0))
            ),
            "empty-text",
            "do.add.minus.source",
            "is empty",
        ),
        (Intervention("encoder.0.self", "cut", 1, ()), "too-short", "do.cut", "no edges"),
        (
            Intervention("encoder.0.self", "cut", 1, ((0, 0), (0, 99))),
            "out-of-range",
            "do.cut[1][1]",
            "from 0 to",
        ),
    ],
    ids=str,
)
def test_invalid_changes_are_named(
    tiny: EncoderDecoder, made: Intervention, kind: str, field: str, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        tiny.check(replace(CAT, interventions=(made,)))
    assert (caught.value.kind, caught.value.field) == (kind, f"interventions[0].{field}")
