"""Patches from another run: against a second implementation, and by what they must leave equal."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Decode, Patch, Request
from model.adapters.requests.trace import Trace
from model.bundle.weights import load_bundle
from model.errors import InputError
from model.trace.interventions import WITH_ROWS, Intervention
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer
from tests.model.numpy_reference import NumpyTransformer
from tests.model.shaken import same, shaken_bundle, sums_to_logits

CAT, DOG = Request("The cat sat.", target="猫坐在这"), Request("A dog sat.", target="狗坐在这")
LONG = Request(
    "A dog ran after the cat, and it didn't stop.", target="我不知道她是谁，它没有停下来。"
)
LOGITS = "decoder.logits"
CLOSE = 1e-5
HEADS = 4


@pytest.fixture(scope="module", params=["post", "pre"])
def model(bundle: Path, request: pytest.FixtureRequest) -> EncoderDecoder:
    return EncoderDecoder(shaken_bundle(bundle, request.param), "shaken")


@pytest.fixture(scope="module")
def paper(bundle: Path) -> tuple[EncoderDecoder, NumpyTransformer]:
    return EncoderDecoder(load_bundle(bundle), "tiny"), NumpyTransformer(bundle)


def patch(
    at: str,
    other: Request,
    head: int | None = None,
    rows: Sequence[tuple[int, int]] | None = None,
) -> Intervention:
    return Intervention(at, "patch", head, Patch(other, None if rows is None else tuple(rows)))


def run(model: EncoderDecoder, request: Request, *made: Intervention, **fields: Any) -> Trace:
    fields = {"select": ("*", LOGITS)} | fields
    return model.trace(request, interventions=made, **fields)


def ids(trace: Trace) -> tuple[list[int], list[int]]:
    source, target = ([token.id for token in text] for text in trace.texts.values())
    return source, target


def same_length(model: EncoderDecoder) -> None:
    ours, theirs = model.texts_of(CAT), model.texts_of(DOG)
    assert [*map(len, ours.values())] == [*map(len, theirs.values())], "choose other sentences"


def test_the_last_states_of_another_run_give_its_logits(model: EncoderDecoder) -> None:
    same_length(model)
    last = "decoder.norm" if "decoder.norm" in model.names else "decoder.1.ffn.norm"
    theirs, patched = run(model, DOG), run(model, CAT, patch(last, DOG))
    assert torch.equal(patched[LOGITS].value, theirs[LOGITS].value)
    assert not torch.allclose(run(model, CAT)[LOGITS].value, theirs[LOGITS].value, atol=0.1)


def test_its_memory_and_its_input_make_it_the_other_run(model: EncoderDecoder) -> None:
    """All that the decoder reads is the encoder's output and the target's embeddings."""
    memory = "encoder.norm" if "encoder.norm" in model.names else "encoder.1.ffn.norm"
    theirs = run(model, DOG)
    for made in (
        [patch("source.input", DOG), patch("target.input", DOG)],
        [patch("source.embedding", DOG), patch("target.embedding", DOG)],
        [patch(memory, DOG), patch("target.input", DOG)],
    ):
        found = run(model, CAT, *made)
        torch.testing.assert_close(found[LOGITS].value, theirs[LOGITS].value, atol=CLOSE, rtol=0)


def test_itself_changes_nothing(model: EncoderDecoder) -> None:
    plain = run(model, CAT)
    for at, dims in model.names.items():
        if at.rpartition(".")[2] in WITH_ROWS:
            head = 1 if len(dims) == 3 else None
            assert torch.equal(
                run(model, CAT, patch(at, CAT, head))[LOGITS].value, plain[LOGITS].value
            )


PLACES = ["encoder.0.self", "encoder.1.self", "decoder.0.self", "decoder.1.cross"]
BY_HEAD = ("q", "k", "v", "scores", "weights", "mix")
WHOLE = ("mask", "output", "residual", "norm")
TENSORS = [
    *((f"{place}.{name}", head) for place in PLACES for name in BY_HEAD for head in (None, 2)),
    *((f"{place}.{name}", None) for place in PLACES for name in WHOLE),
    *((f"{text}.{name}", None) for text in ("source", "target") for name in WITH_ROWS[:3]),
    *((f"decoder.1.ffn.{name}", None) for name in ("hidden", "output", "residual", "norm")),
]
# Which rows are put in does not depend on the tensor: each has one of these, in turn.
ROWS = (None, ((1, 2), (3, 0)), ((2, 2), (2, 3)))
CASES = [(at, head, ROWS[n % 3]) for n, (at, head) in enumerate(TENSORS)]


@pytest.mark.parametrize(("at", "head", "rows"), CASES, ids=str)
def test_it_is_the_paper_with_those_numbers_put_in(
    paper: tuple[EncoderDecoder, NumpyTransformer],
    at: str,
    head: int | None,
    rows: tuple[tuple[int, int], ...] | None,
) -> None:
    """Put the other run's matrix into a second implementation that shares no code."""
    model, numpy = paper
    if rows and at.startswith("decoder.0.self.") and at.endswith(("scores", "weights", "mask")):
        rows = tuple((min(there, here), here) for there, here in rows)  # later keys are refused
    theirs = numpy.run(*ids(model.trace(DOG)))[at]

    def change(name: str, value: Any) -> Any:
        if name != at:
            return value
        value = value.copy()
        mine, other = (value, theirs) if head is None else (value[head], theirs[head])
        for there, here in rows or ((row, row) for row in range(mine.shape[-2])):
            mine[..., here, :] = other[..., there, :]
        return value

    found = run(model, CAT, patch(at, DOG, head, rows))
    expected = numpy.run(*ids(found), change=change)
    for name, value in expected.items():
        np.testing.assert_allclose(found[name].value, value, atol=2e-5, err_msg=name)


def test_rows_of_a_longer_sentence_go_where_they_are_put(model: EncoderDecoder) -> None:
    at, head, rows = "encoder.0.self.v", 3, ((9, 1), (0, 4))
    theirs = run(model, LONG)[at].value[head]
    plain, found = (
        run(model, CAT, *made)[at].value for made in ((), (patch(at, LONG, head, rows),))
    )
    expected = plain.clone()
    expected[head, [1, 4]] = theirs[[9, 0]]
    assert torch.equal(found, expected)


def test_keys_that_the_other_run_lacks_get_no_weight(model: EncoderDecoder) -> None:
    for name in ("weights", "scores", "mask"):
        at = f"encoder.1.self.{name}"
        keys = len(run(model, CAT).texts["source"])
        weights = run(model, LONG, patch(at, CAT, rows=((2, 3),)))["encoder.1.self.weights"].value
        assert not weights[:, 3, keys:].any()
        assert weights[:, 2, keys:].any()
        torch.testing.assert_close(weights[:, 3].sum(-1), torch.ones(HEADS))


def test_a_frozen_pattern_is_a_patch_of_the_weights(model: EncoderDecoder) -> None:
    for other in (DOG, LONG, Request("A dog.")):
        at = "decoder.0.cross"
        frozen = run(model, CAT, Intervention(at, "freeze", 1, other))
        theirs = len(run(model, other)[f"{at}.weights"].value[0])
        rows = [(row, row) for row in range(min(theirs, len(frozen.texts["target"])))]
        patched = run(model, CAT, patch(f"{at}.weights", other, 1, rows))
        for name in frozen:
            assert torch.equal(frozen[name].value, patched[name].value), name


def test_it_is_the_same_beside_others(model: EncoderDecoder) -> None:
    made = [
        patch("encoder.0.self.k", LONG, 1, ((7, 2), (1, 0))),
        patch("decoder.1.cross.mix", DOG, 2, ((1, 1), (2, 0))),
        patch("decoder.0.self.v", LONG, None, ((4, 1),)),
        patch("decoder.0.ffn.residual", LONG, None, ((5, 3),)),
    ]
    asked = replace(CAT, select=("*", LOGITS), interventions=tuple(made))
    alone = model.trace(asked)
    others = [replace((CAT, DOG, LONG)[n % 3], interventions=(*made[: n % 5],)) for n in range(12)]
    for one in others:
        model.check(one)
    for pad_to in (None, 50):
        trace = model.run([*others[:5], replace(asked, pad_to=pad_to), *others[5:]])[5]
        same(trace, alone)


@pytest.mark.parametrize("decode", [Decode(max_tokens=9), Decode("beam", beam=3, max_tokens=9)])
@pytest.mark.parametrize(
    "at", ["decoder.0.self.k", "decoder.1.self.v", "decoder.0.cross.k", "decoder.1.cross.mix"]
)
def test_cached_keys_and_values_are_those_of_the_trace(
    model: EncoderDecoder, at: str, decode: Decode
) -> None:
    """Row i is the same token whether it is computed in the first step or in a later one."""
    rows = ((5, 1), (3, 3), (0, 5))
    request = Request(CAT.source, decode=decode, interventions=(patch(at, LONG, 1, rows),))
    *_, last = model.decode(request).steps
    fresh = replace(request, target=None, decode=replace(decode, prefix=last.written[0].ids))
    trace = model.trace(fresh)
    assert trace.output.logprobs == pytest.approx(last.written[0].logprobs, abs=1e-5)
    plain = model.trace(replace(fresh, interventions=())).output.logprobs
    assert plain != pytest.approx(trace.output.logprobs, abs=1e-3)


@pytest.mark.parametrize(
    ("made", "kind", "field", "words"),
    [
        (patch("encoder.9.self.mix", DOG), "unknown-place", "at", "such as"),
        (patch("encoder.0.self", DOG), "unknown-place", "at", "such as"),
        (patch(LOGITS, DOG), "unknown-place", "at", "such as"),
        (patch("decoder.probabilities", DOG), "unknown-place", "at", "such as"),
        (patch("encoder.0.self.mix", DOG, 4), "out-of-range", "head", "from 0 to 3"),
        (patch("encoder.0.self.output", DOG, 0), "unknown-field", "head", "left out"),
        (patch("encoder.0.self.mix", Request(" ")), "empty-text", "do.patch.source", "is empty"),
        (patch("encoder.0.self.mix", LONG), "does-not-fit", "do.patch.rows", "15 tokens there"),
        (patch("decoder.0.cross.mix", LONG), "does-not-fit", "do.patch.rows", "target has"),
        (patch("decoder.0.cross.k", LONG), "does-not-fit", "do.patch.rows", "source has"),
        (patch("encoder.0.self.q", DOG, None, ()), "too-short", "do.patch.rows", "no rows"),
        (
            patch("encoder.0.self.q", DOG, None, ((0, 0), (99, 1))),
            "out-of-range",
            "do.patch.rows[1][0]",
            "from 0 to",
        ),
        (
            patch("encoder.0.self.q", LONG, None, ((0, 0), (9, 9))),
            "out-of-range",
            "do.patch.rows[1][1]",
            "from 0 to",
        ),
        (
            patch("encoder.0.self.q", DOG, None, ((0, 1), (1, 1))),
            "out-of-range",
            "do.patch.rows[1][1]",
            "not replaced yet",
        ),
        (
            patch("decoder.0.self.weights", LONG, 1, ((2, 2), (3, 1))),
            "out-of-range",
            "do.patch.rows[1][0]",
            "from 0 to 1",
        ),
    ],
)
def test_invalid_patches_are_named(
    tiny: EncoderDecoder, made: Intervention, kind: str, field: str, words: str
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        tiny.check(replace(CAT, interventions=(made,)))
    assert (caught.value.kind, caught.value.field) == (kind, f"interventions[0].{field}")


def test_contributions_of_a_replaced_sum_are_refused(model: EncoderDecoder) -> None:
    select = ("inside.logit.*", LOGITS)
    for at in ("decoder.0.self.output", "decoder.1.ffn.residual", "target.input"):
        with pytest.raises(InputError, match=f"a patch at {at}") as caught:
            run(model, CAT, patch(at, DOG), select=select)
        assert caught.value.field == "select[0]"
        with pytest.raises(InputError, match=f"a patch at {at}"):
            run(model, CAT, patch(at, DOG), select="inside.*")
    for at in ("decoder.0.cross.mix", "decoder.1.ffn.hidden", "encoder.0.ffn.norm"):
        trace = run(model, CAT, patch(at, DOG), select=select)
        sums_to_logits(trace)


def test_heads_of_any_width_and_stacks_of_any_depth(bundle: Path) -> None:
    loaded = load_bundle(bundle)
    for d_model, heads, layers in ((8, 8, 1), (24, 3, 3), (64, 2, 2)):
        torch.manual_seed(d_model)
        config = ModelConfig(loaded.model.config.vocabulary, d_model, heads, 16, layers, layers)
        made = EncoderDecoder(replace(loaded, model=Transformer(config).eval()), "made")
        last, head = layers - 1, heads - 1
        at = f"decoder.{last}.cross.mix"
        theirs, found = run(made, DOG), run(made, CAT, patch(at, DOG, head))
        torch.testing.assert_close(found[at].value[head], theirs[at].value[head], atol=0, rtol=0)
        own = run(made, CAT)[at].value
        torch.testing.assert_close(found[at].value[:head], own[:head], atol=CLOSE, rtol=0)
