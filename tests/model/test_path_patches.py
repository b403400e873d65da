"""Path patches: against a second implementation, a chain of norms by hand, and each other."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.request import Decode, Patch, Receiver, Request
from model.adapters.sweep import sweep
from model.errors import InputError
from model.trace.interventions import Intervention
from tests.model.numpy_reference import Array, NumpyTransformer
from tests.model.shaken import same
from tests.model.test_patch import CAT, DOG, LOGITS, LONG, ids, model, paper, patch, run

__all__ = ["model", "paper"]  # fixtures
Path = tuple[str, int | None, str, int | None]  # from a tensor and head to a tensor and head
HEADS = 4
PATHS: list[Path] = [
    *(("encoder.0.self.mix", 1, f"encoder.1.self.{name}", 2) for name in ("q", "k", "v")),
    *(
        ("encoder.0.self.mix", 1, f"decoder.{n}.cross.{name}", 0)
        for n, name in ((0, "k"), (1, "v"))
    ),
    ("decoder.0.self.mix", 2, "decoder.1.cross.q", 1),
    ("decoder.0.cross.mix", 0, "decoder.1.self.k", None),
    ("encoder.0.ffn.output", None, "decoder.0.cross.k", None),
    ("decoder.0.cross.mix", None, "decoder.1.ffn.norm", None),
    ("source.input", None, "decoder.1.cross.v", 3),
    ("decoder.0.self.v", 1, "decoder.1.ffn.hidden", None),
    ("decoder.0.cross.mix", 3, "decoder.1.cross.mix", 2),
    ("encoder.0.self.k", 1, "encoder.1.self.scores", 0),
    ("encoder.1.ffn.norm", None, "decoder.1.cross.output", None),
    ("decoder.0.self.weights", 2, "decoder.1.ffn.residual", None),
]
STREAM = ("embedding", "position", "input", "residual", "norm")


def along(
    path: Path, other: Request, rows: tuple[tuple[int, int], ...] | None = None
) -> Intervention:
    at, head, to, of = path
    return Intervention(at, "patch", head, Patch(other, rows, Receiver(to, of)))


def putting(*parts: tuple[str, int | None, Array]) -> Callable[[str, Array], Array]:
    """Return a change that puts values, or one head of them, into a run."""

    def change(name: str, value: Array) -> Array:
        for at, head, other in parts:
            if name == at:
                value = value.copy()
                value[slice(None) if head is None else head] = other
        return value

    return change


def expected(numpy: NumpyTransformer, path: Path, ours: Any, theirs: Any) -> dict[str, Array]:
    """Return this run with the path in it, in three runs of the second implementation."""
    at, head, to, of = path
    plain, other = numpy.run(*ours), numpy.run(*theirs)
    value = other[at] if head is None else other[at][head]
    own = {name.rpartition(".")[0] for name in (at, to) if not name.endswith(STREAM)}
    frozen = [
        (name, None, output)
        for name, output in plain.items()
        if name.endswith(".output") and name.rpartition(".")[0] not in own
    ]
    direct = numpy.run(*ours, change=putting((at, head, value), *frozen))[to]
    return numpy.run(*ours, change=putting((to, of, direct if of is None else direct[of])))


@pytest.mark.parametrize("path", PATHS, ids=str)
def test_it_is_the_papers_model_with_this_path_alone(
    paper: tuple[EncoderDecoder, NumpyTransformer], path: Path
) -> None:
    model, numpy = paper
    found = run(model, CAT, along(path, DOG))
    ours, theirs = ids(found), ids(model.trace(DOG))
    there = expected(numpy, path, ours, theirs)
    for name, value in there.items():
        np.testing.assert_allclose(found[name].value, value, atol=2e-5, err_msg=name)
    plain = numpy.run(*ours)[LOGITS]
    assert np.abs(there[LOGITS] - plain).max() > 1e-4, "the path changes something"
    everything = run(model, CAT, patch(path[0], DOG, path[1]))[LOGITS].value
    assert not np.allclose(everything, there[LOGITS], atol=1e-4), "and not everything"


def test_the_change_passes_through_sums_and_norms_only(
    paper: tuple[EncoderDecoder, NumpyTransformer],
) -> None:
    """By hand: from a head of the encoder to the values of the decoder's last cross-attention."""
    model, numpy = paper
    found = run(model, CAT, along(("encoder.0.self.mix", 1, "decoder.1.cross.v", 2), DOG))
    plain, other = numpy.run(*ids(found)), numpy.run(*ids(model.trace(DOG)))
    weights = numpy.weights
    width = plain["encoder.0.self.mix"].shape[-1]
    columns = weights["encoder.0.self_attention.W_o.weight"][:, width : 2 * width]
    more = other["encoder.0.self.mix"][1] - plain["encoder.0.self.mix"][1]
    x = plain["encoder.0.self.residual"] + more @ columns.T
    outputs = ("encoder.0.ffn.output", "encoder.1.self.output", "encoder.1.ffn.output", None)
    norms = ("0.self_norm", "0.ffn_norm", "1.self_norm", "1.ffn_norm")
    for norm, output in zip(norms, outputs, strict=True):
        gain, bias = (weights[f"encoder.{norm}.norm.{name}"] for name in ("weight", "bias"))
        centred = x - x.mean(-1, keepdims=True)
        x = gain * centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5) + bias
        x = x if output is None else x + plain[output]
    v = numpy_heads(x @ weights["decoder.1.cross_attention.W_v.weight"].T, HEADS)
    v += numpy_heads(weights["decoder.1.cross_attention.W_v.bias"][None], HEADS)
    got = found["decoder.1.cross.v"].value
    np.testing.assert_allclose(got[2], v[2], atol=2e-5)
    np.testing.assert_allclose(got[[0, 1, 3]], plain["decoder.1.cross.v"][[0, 1, 3]], atol=2e-5)
    assert np.abs(v[2] - plain["decoder.1.cross.v"][2]).max() > 1e-3


def numpy_heads(x: Array, heads: int) -> Array:
    return np.stack(np.split(x, heads, axis=-1))


def test_without_anything_between_it_is_a_patch_of_what_it_reaches(model: EncoderDecoder) -> None:
    """The last layer's feed-forward network is followed by nothing but the end."""
    end = "decoder.norm" if "decoder.norm" in model.names else "decoder.1.ffn.norm"
    plain = run(model, CAT, patch("decoder.1.ffn.output", DOG))
    path = run(model, CAT, along(("decoder.1.ffn.output", None, end, None), DOG))
    torch.testing.assert_close(path[LOGITS].value, plain[LOGITS].value, atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    "path",
    [
        ("decoder.1.self.mix", 1, "encoder.1.self.q", 0),  # earlier
        ("encoder.0.self.mix", 1, "decoder.1.cross.q", 0),  # the encoder is read as keys only
        ("encoder.0.self.mix", 1, "decoder.0.self.k", 0),
        ("decoder.0.cross.mix", 1, "decoder.1.cross.k", 0),
    ],
    ids=str,
)
def test_what_is_not_connected_changes_nothing(model: EncoderDecoder, path: Path) -> None:
    plain, found = run(model, CAT), run(model, CAT, along(path, DOG))
    torch.testing.assert_close(found[LOGITS].value, plain[LOGITS].value, atol=1e-5, rtol=0)


def test_other_changes_are_in_all_three_runs(
    paper: tuple[EncoderDecoder, NumpyTransformer],
) -> None:
    model, numpy = paper
    path: Path = ("encoder.0.self.mix", 1, "decoder.1.cross.v", 2)
    places = (("encoder.1.self", 0), ("decoder.0.cross", 3), ("encoder.0.self", 2))
    off = [Intervention(place, "zero", head) for place, head in places]
    found = run(model, CAT, off[0], along(path, DOG), *off[1:])

    class Changed:
        """The second implementation with some heads off, unless it reads the other sentence."""

        def run(self, source: Any, target: Any, *, change: Any = lambda _, value: value) -> Any:
            def both(name: str, value: Array) -> Array:
                for one in off:
                    if name == f"{one.at}.weights":
                        value = value.copy()
                        value[one.head] = 0
                changed: Array = change(name, value)
                return changed

            alone = source != ids(found)[0]
            return numpy.run(source, target, change=change if alone else both)

    there = expected(Changed(), path, ids(found), ids(model.trace(DOG)))  # type: ignore[arg-type]
    np.testing.assert_allclose(found[LOGITS].value, there[LOGITS], atol=2e-5)


def test_paths_do_not_act_on_each_other(model: EncoderDecoder) -> None:
    """Two at different places of one layer: each receiver has the value that it has alone."""
    first = along(("encoder.0.self.mix", 1, "decoder.0.cross.k", 2), DOG)
    second = along(("encoder.0.ffn.output", None, "decoder.0.cross.v", 2), DOG)
    both = run(model, CAT, first, second)
    for one, name in ((first, "decoder.0.cross.k"), (second, "decoder.0.cross.v")):
        alone = run(model, CAT, one)[name].value
        torch.testing.assert_close(both[name].value, alone, atol=1e-6, rtol=0)


def test_it_is_the_same_beside_others_and_padded(model: EncoderDecoder) -> None:
    rows = ((1, 2), (3, 0))
    made = [
        along(("encoder.0.self.mix", 1, "decoder.1.cross.k", 2), LONG, rows),
        along(("decoder.0.self.mix", 2, "decoder.1.cross.q", 1), DOG),
        patch("encoder.1.self.v", DOG, 1),
    ]
    asked = replace(CAT, select=("*", LOGITS), interventions=tuple(made))
    alone = model.trace(asked)
    others = [replace((CAT, DOG, LONG)[n % 3], interventions=(*made[2:],)) for n in range(3, 8)]
    others += [replace(CAT, interventions=tuple(made[: n % 3 + 1])) for n in range(4)]
    others = [one for one in others if model.takes(one)]
    assert len(others) > 6
    for pad_to in (None, 50):
        trace = model.run([*others[:3], replace(asked, pad_to=pad_to), *others[3:]])[3]
        same(trace, alone)


@pytest.mark.parametrize(
    "path",
    [
        ("encoder.0.self.mix", 1, "decoder.1.cross.v", 2),
        ("decoder.0.cross.mix", None, "decoder.1.ffn.residual", None),
    ],
    ids=str,
)
def test_without_a_target_it_reads_what_this_run_writes(model: EncoderDecoder, path: Path) -> None:
    """The values are those of the same request with its own translation given."""
    rows = ((0, 0), (1, 1), (2, 2), (3, 3))
    made = along(path, Request("The dog ran away from it."), rows)
    free = Request(CAT.source, decode=Decode(max_tokens=6), interventions=(made,))
    written = model.trace(replace(free, interventions=())).output.tokens
    prefix = tuple(token.id for token in written)
    given = replace(free, decode=Decode(prefix=prefix, max_tokens=len(prefix)))
    found, expected = (model.trace(one, select=(path[2],))[path[2]].value for one in (free, given))
    torch.testing.assert_close(found[..., :6, :], expected[..., :6, :], atol=1e-5, rtol=0)
    *_, last = model.decode(free).steps
    again = model.trace(free).output.tokens
    assert last.written[0].ids == tuple(token.id for token in again)


@pytest.mark.parametrize("over", ["heads", "sublayers"])
def test_a_sweep_over_senders_is_a_request_for_each(tiny: EncoderDecoder, over: str) -> None:
    to = Receiver("decoder.1.cross.v", 1)
    swept = sweep(tiny, CAT, Patch(DOG, None, to), over=over)
    assert swept.other is not None
    tokens = [token.id for token in swept.base.output.tokens]
    against = [token.id for token in swept.against]
    rows = range(len(tokens))
    decode = Decode(prefix=tuple(tokens), max_tokens=len(tokens))

    def contrast(*made: Intervention) -> Array:
        request = replace(CAT, target=None, decode=decode, interventions=made)
        logits = tiny.trace(request, select=LOGITS)[LOGITS].value.numpy()
        found: Array = logits[rows, tokens] - logits[rows, against]
        return found

    effects = [one for batch in swept.batches for one in batch]
    for one in effects[:: 1 + len(effects) // 12]:
        text = "target" if one.at.startswith("decoder") else "source"
        value = Patch(DOG, swept.other.pairs[text], to)
        change = contrast(Intervention(one.at, "patch", one.head, value)) - contrast()
        np.testing.assert_allclose(one.contrast, change, atol=1e-5)
    moved = {one.at for one in effects if max(map(abs, one.contrast)) > 1e-5}
    stacks = {at.partition(".")[0] for at in moved}
    assert stacks == {"encoder"}, "nothing in the decoder is on the way to its values of the source"


@pytest.mark.parametrize(
    ("to", "kind", "field", "words"),
    [
        (Receiver("decoder.9.cross.q"), "unknown-place", "to.at", "such as"),
        (Receiver("decoder.1.cross"), "unknown-place", "to.at", "such as"),
        (Receiver("decoder.1.cross.q", 4), "out-of-range", "to.head", "from 0 to 3"),
        (Receiver("decoder.1.ffn.norm", 0), "unknown-field", "to.head", "left out"),
    ],
)
def test_invalid_paths_are_named(
    tiny: EncoderDecoder, to: Receiver, kind: str, field: str, words: str
) -> None:
    made = along(("encoder.0.self.mix", 1, to.at, to.head), DOG)
    with pytest.raises(InputError, match=words) as caught:
        tiny.check(replace(CAT, interventions=(made,)))
    assert (caught.value.kind, caught.value.field) == (kind, f"interventions[0].do.patch.{field}")
    with pytest.raises(InputError) as caught:
        sweep(tiny, CAT, Patch(DOG, None, to))
    assert (caught.value.kind, caught.value.field) == (kind, f"effect.patch.{field}")


def test_contributions_are_refused_where_the_path_ends_in_their_sum(model: EncoderDecoder) -> None:
    select = ("inside.logit.*",)
    for at, to in product(("decoder.0.ffn.norm", "encoder.0.self.mix"), ("residual", "hidden")):
        made = along((at, None, f"decoder.1.ffn.{to}", None), DOG)
        if to == "residual":
            with pytest.raises(InputError, match=r"a patch at decoder.1.ffn.residual"):
                run(model, CAT, made, select=select)
        else:
            assert "inside.logit.total" in run(model, CAT, made, select=select)


def test_the_shipped_model_reads_the_word_in_its_values() -> None:
    """The figures in docs/trace.md."""
    shipped = load("en-zh", "cpu")
    father, mother = Request("My father is a teacher."), Request("My mother is a teacher.")

    def shares(to: str, over: str) -> dict[tuple[str, int | None, int | None], float]:
        swept = sweep(shipped, father, Patch(mother, None, Receiver(to)), 1, over)
        every = [one for batch in swept.batches for one in batch]
        return {
            (one.at, one.head, one.token): (one.recovered or (None,))[0] or 0.0 for one in every
        }

    end = ("encoder.2.ffn.norm", None, 2)
    found = [shares(f"decoder.2.cross.{name}", "positions")[end] for name in ("v", "k")]
    assert found == pytest.approx([0.97, 0.004], abs=0.005)
    values = shares("decoder.2.cross.v", "sublayers")
    networks = [values[f"encoder.{layer}.ffn.output", None, None] for layer in range(2)]
    assert networks == pytest.approx([0.16, 0.16], abs=0.01)
    heads = [values[f"encoder.{layer}.self.output", None, None] for layer in range(3)]
    assert (min(heads), max(heads)) == pytest.approx((0.03, 0.08), abs=0.005)
    cross = ("decoder.2.cross.output", None, None)
    direct = [shares(f"decoder.2.ffn.{to}", "sublayers")[cross] for to in ("norm", "hidden")]
    assert direct == pytest.approx([0.74, 0.23], abs=0.01)
