"""Sweeps of patches: each equals a separate run, and the shares are those of its logits."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.request import Decode, Patch, Request
from model.adapters.sweep import Ablation, Sweep, check, sweep
from model.errors import InputError
from model.trace.interventions import Intervention

LOGITS = "decoder.logits"
MINE, OTHER = Request("The cat sat.", target="猫坐在垫子上。"), Request("The dog sat on the mat.")
CHANGED = replace(MINE, interventions=(Intervention("encoder.0.self", "zero", 1),))
WRITTEN = Request("The dog", decode=Decode("beam", max_tokens=6))


def found(swept: Sweep) -> list[Ablation]:
    return [one for batch in swept.batches for one in batch]


def logits(model: EncoderDecoder, request: Request, ids: list[int]) -> torch.Tensor:
    """Return the logits (rows, V) of a run that reads these ids."""
    read = replace(request, target=None, decode=Decode(prefix=tuple(ids), max_tokens=len(ids)))
    return model.trace(read, select=LOGITS)[LOGITS].value.double()


@pytest.mark.parametrize("over", ["heads", "sublayers", "positions"])
@pytest.mark.parametrize("request_", [MINE, CHANGED, WRITTEN], ids=range(3))
def test_each_patch_equals_a_separate_run(
    tiny: EncoderDecoder, request_: Request, over: str
) -> None:
    swept = sweep(tiny, request_, Patch(OTHER), over=over)
    assert swept.other is not None
    ids = [token.id for token in swept.base.output.tokens]
    rows = torch.arange(len(ids))
    here = logits(tiny, request_, ids)
    there = logits(tiny, OTHER, ids)
    against = torch.tensor([token.id for token in swept.against])

    def contrast(of: torch.Tensor) -> torch.Tensor:
        return of[rows, ids] - of[rows, against]

    torch.testing.assert_close(torch.tensor(swept.contrast), contrast(here).float())
    torch.testing.assert_close(torch.tensor(swept.other.contrast), contrast(there).float())
    other = replace(OTHER, decode=Decode(prefix=tuple(ids), max_tokens=len(ids)))
    effects = found(swept)
    assert len(effects) == swept.changes > 9
    for one in effects[:: 1 + len(effects) // 9]:
        text = "target" if one.at.startswith(("decoder", "target")) else "source"
        pairs = swept.other.pairs[text]
        pairs = pairs if one.token is None else tuple(p for p in pairs if p[1] == one.token)
        made = Intervention(one.at, "patch", one.head, Patch(other, pairs))
        after = logits(tiny, replace(request_, interventions=(*request_.interventions, made)), ids)
        change = contrast(after) - contrast(here)
        assert one.contrast == pytest.approx(change.tolist(), abs=1e-5)
        delta = after.log_softmax(-1)[rows, ids] - here.log_softmax(-1)[rows, ids]
        assert one.delta == pytest.approx(delta.tolist(), abs=1e-5)
        whole = (contrast(there) - contrast(here)).tolist()
        assert one.recovered is not None
        for share, part, all_ in zip(one.recovered, change.tolist(), whole, strict=True):
            assert share is None or share == pytest.approx(part / all_, abs=0.01)
            assert share is not None or abs(all_) < 0.011
    assert max(max(map(abs, one.contrast)) for one in effects) > 1e-3


def test_the_whole_source_recovers_everything(tiny: EncoderDecoder) -> None:
    """With equal lengths and one target, the sources are the only difference."""
    dog = Request("The dog sat.")
    ours, theirs = (len(tiny.rows.source(one)) for one in (MINE, dog))
    assert ours == theirs
    ids = [token.id for token in tiny.trace(MINE).output.tokens]
    other = replace(dog, decode=Decode(prefix=tuple(ids), max_tokens=len(ids)))
    swept = sweep(tiny, MINE, Patch(dog), over="sublayers")
    made = Intervention("source.input", "patch", None, Patch(other))
    after = logits(tiny, replace(MINE, interventions=(made,)), ids)
    assert swept.other is not None
    for row, token in enumerate(swept.against):
        found = after[row, ids[row]] - after[row, token.id]
        assert float(found) == pytest.approx(swept.other.contrast[row], abs=1e-5)


def test_the_contrast_is_with_what_the_other_run_or_else_this_one_prefers(
    tiny: EncoderDecoder,
) -> None:
    plain, patched = sweep(tiny, MINE), sweep(tiny, MINE, Patch(OTHER))
    ids = [token.id for token in plain.base.output.tokens]
    here, there = logits(tiny, MINE, ids), logits(tiny, OTHER, ids)
    for row, id_ in enumerate(ids):
        order = [int(one) for one in here[row].argsort(descending=True) if int(one) != id_]
        assert plain.against[row].id == order[0]
        best = int(there[row].argmax())
        assert patched.against[row].id == (best if best != id_ else order[0])
    assert sweep(tiny, MINE, against=77, row=2).against[0].id == 77
    assert sweep(tiny, MINE).other is None
    assert found(sweep(tiny, MINE, row=2))[0].recovered is None


def test_candidates_are_what_either_run_finds_probable(tiny: EncoderDecoder) -> None:
    swept = sweep(tiny, MINE, Patch(OTHER))
    ids = [token.id for token in swept.base.output.tokens]
    runs = [logits(tiny, request, ids) for request in (OTHER, MINE)]
    for row, (id_, found_) in enumerate(zip(ids, swept.candidates, strict=True)):
        best = [
            [int(one) for one in run[row].argsort(descending=True) if int(one) != id_][:5]
            for run in runs
        ]
        assert [token.id for token in found_] == list(dict.fromkeys(best[0] + best[1]))
        assert swept.against[row].id in {token.id for token in found_}
    alone = sweep(tiny, MINE, row=2)
    [row_] = alone.candidates
    assert row_[0].id == alone.against[0].id
    assert len(row_) == 5


def test_all_heads_of_an_attention_together_are_its_output(tiny: EncoderDecoder) -> None:
    """W_O and b_O are the same in both runs."""
    mixes, outputs = (
        {one.at.rpartition(".")[0]: one.contrast for one in found(swept) if one.head is None}
        for swept in (sweep(tiny, MINE, Patch(OTHER), over=over) for over in ("heads", "sublayers"))
    )
    assert len(mixes) == len(tiny.info.places)
    for place, contrast in mixes.items():
        assert contrast == pytest.approx(outputs[place], abs=1e-5), place


def test_rows_that_are_given_replace_the_alignment(tiny: EncoderDecoder) -> None:
    rows = ((1, 2), (4, 3))
    swept = sweep(tiny, MINE, Patch(OTHER, rows), over="positions")
    assert swept.other is not None
    assert swept.other.pairs["source"] == rows
    in_source = {one.token for one in found(swept) if one.at.startswith(("source", "encoder"))}
    assert in_source == {2, 3}


@pytest.mark.parametrize(
    ("fields", "kind", "field"),
    [
        ({"effect": Patch(Request(" "))}, "empty-text", "effect.patch.source"),
        ({"effect": Patch(OTHER, ((0, 99),))}, "out-of-range", "effect.patch.rows[0][1]"),
        ({"effect": Patch(OTHER), "over": "layers"}, "unknown-value", "over"),
        ({"effect": "zero", "over": "positions"}, "unknown-value", "over"),
        ({"effect": "melt"}, "unknown-effect", "effect"),
        ({"against": 10_000}, "out-of-range", "against"),
        ({"against": -1}, "out-of-range", "against"),
    ],
    ids=str,
)
def test_invalid_sweeps_are_named(
    tiny: EncoderDecoder, fields: dict[str, Any], kind: str, field: str
) -> None:
    with pytest.raises(InputError) as caught:
        check(tiny, MINE, **({"effect": "zero"} | fields))
    assert (caught.value.kind, caught.value.field) == (kind, field)


def test_a_target_of_the_other_run_must_be_long_enough(tiny: EncoderDecoder) -> None:
    with pytest.raises(InputError, match=r"writes \d+ tokens; \d+ are compared") as caught:
        sweep(tiny, MINE, Patch(replace(OTHER, target="狗")))
    assert (caught.value.kind, caught.value.field) == ("does-not-fit", "effect.patch")
    assert found(sweep(tiny, MINE, Patch(replace(OTHER, target="狗")), row=0))


def test_the_shipped_model_gets_the_word_from_one_layer() -> None:
    """The figures in docs/trace.md."""
    model = load("en-zh", "cpu")
    father, mother = "My father is a teacher.", "My mother is a teacher."
    swept = sweep(model, Request(father), Patch(Request(mother)), row=1)
    assert (swept.base.output.tokens[1].text, swept.against[0].text) == ("父", "母")
    share = {(one.at, one.head): (one.recovered or (None,))[0] or 0.0 for one in found(swept)}
    together = {at: share.pop((at, None)) for at, head in list(share) if head is None}
    assert together["decoder.2.cross.mix"] == pytest.approx(0.97, abs=0.01)
    here = [value for (at, _), value in share.items() if at == "decoder.2.cross.mix"]
    others = [value for (at, _), value in share.items() if at != "decoder.2.cross.mix"]
    assert len(here) == 8
    assert (min(here), max(here)) == pytest.approx((0.05, 0.17), abs=0.01)
    assert max(others) == pytest.approx(0.06, abs=0.01)
    layers = found(sweep(model, Request(father), Patch(Request(mother)), 1, "sublayers"))
    sublayers = {one.at: (one.recovered or (None,))[0] for one in layers}
    assert sublayers["decoder.2.cross.output"] == pytest.approx(0.97, abs=0.01)
