"""Mean ablation: the means against a loop over sentences, and their effect on a head."""

from collections.abc import Iterator
from pathlib import Path
from shutil import copytree

import pytest
import torch
from safetensors import safe_open

from model.__main__ import main
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.request import Request
from model.bundle.measurements import MEANS, load_measured, means_of
from model.bundle.weights import CHECKPOINTS, SUMS, WEIGHTS, digest_of, load_bundle
from model.errors import InputError
from model.trace.interventions import Intervention

PAIRS = [
    ("The cat sat on the mat.", "猫坐在垫子上。"),
    ("I don't know.", "我不知道她是谁。"),
    ("A dog", "狗"),
]


@pytest.fixture
def meant(bundle: Path, tmp_path: Path) -> EncoderDecoder:
    """The tiny model with the means of three pairs of very different lengths."""
    folder = Path(copytree(bundle, tmp_path / "meant"))
    data = tmp_path / "pairs.tsv"
    data.write_text("".join(f"{a}\t{b}\n" for a, b in PAIRS), encoding="utf-8")
    main(["measure", "mean-outputs", str(folder), "--train", str(data)])
    made = load_bundle(folder)
    return EncoderDecoder(made, "meant", load_measured(folder, made))


def rows(model: EncoderDecoder) -> Iterator[dict[str, torch.Tensor]]:
    """Yield the mix of every attention, per sentence and direction, without padding."""
    for pair in PAIRS:
        for source, target in (pair, pair[::-1]):
            request = Request(source, target=target, select=("*.mix",))
            yield {name: found.value for name, found in model.trace(request).tensors.items()}


def test_a_mean_is_over_all_real_positions_both_ways(meant: EncoderDecoder) -> None:
    everything = list(rows(meant))
    assert set(meant.means) == set(everything[0])
    for name, mean in meant.means.items():
        positions = torch.cat([found[name] for found in everything], dim=1)  # (H, all, d_k)
        torch.testing.assert_close(mean, positions.mean(dim=1), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("place", ["encoder.1.self", "decoder.0.self", "decoder.1.cross"])
@pytest.mark.parametrize("head", [None, 2])
def test_the_head_says_its_mean_at_every_position(
    meant: EncoderDecoder, place: str, head: int | None
) -> None:
    plain, changed = (
        meant.trace("The cat", target="猫坐", select="*", interventions=made)
        for made in ((), (Intervention(place, "mean", head),))
    )
    expected = plain[f"{place}.mix"].value.clone()
    heads = slice(None) if head is None else slice(head, head + 1)
    expected[heads] = meant.means[f"{place}.mix"][heads, None, :]
    assert torch.equal(changed[f"{place}.mix"].value, expected)
    parameters = meant.parameters([f"{place}.*"])
    concat = expected.transpose(0, 1).flatten(1)
    output = concat @ parameters[f"{place}.W_o"].value + parameters[f"{place}.b_o"].value
    torch.testing.assert_close(changed[f"{place}.output"].value, output, atol=1e-5, rtol=1e-5)
    assert torch.equal(changed[f"{place}.weights"].value, plain[f"{place}.weights"].value)


def test_decoding_and_scoring_see_the_same_means(meant: EncoderDecoder) -> None:
    made = (Intervention("decoder.0.self", "mean", 1),)
    trace = meant.trace("The cat sat.", interventions=made, select="decoder.logits")
    never = sorted(meant.tokenizer.specials - {meant.tokenizer.eos})
    logits = trace["decoder.logits"].value.index_fill(1, torch.tensor(never), -torch.inf)
    assert logits.argmax(dim=-1).tolist() == [token.id for token in trace.output.tokens]


def test_a_model_without_means_says_so(tiny: EncoderDecoder) -> None:
    with pytest.raises(InputError, match="means of its heads") as caught:
        tiny.check(Request("abc", interventions=(Intervention("encoder.0.self", "mean", 1),)))
    assert (caught.value.kind, caught.value.field) == ("no-means", "interventions[0].do")


def test_means_of_other_weights_are_refused(meant: EncoderDecoder, tmp_path: Path) -> None:
    folder = tmp_path / "meant"
    (folder / SUMS).unlink()
    weights = bytearray((folder / WEIGHTS).read_bytes())
    weights[-1] ^= 1
    (folder / WEIGHTS).write_bytes(weights)
    with pytest.raises(ValueError, match="on other weights; run measure mean-outputs again"):
        load(folder, "cpu")
    main(
        ["measure", "mean-outputs", str(folder), "--train", str(tmp_path / "pairs.tsv")]
    )  # as it says
    assert means_of(folder, load_bundle(folder)).keys() == meant.means.keys()


def test_what_is_shipped_fits_the_model_that_is_shipped() -> None:
    folder = CHECKPOINTS / "en-zh"
    shipped = load(folder, "cpu")
    assert isinstance(shipped, EncoderDecoder)
    config = shipped.model.config
    assert set(shipped.means) == {f"{place}.mix" for place in shipped.info.places}
    for mean in shipped.means.values():
        assert mean.shape == (config.heads, config.d_k)
        assert mean.isfinite().all()
        assert mean.abs().amax() > 0
    with safe_open(folder / MEANS, framework="pt") as file:
        assert file.metadata() == {"digest": digest_of(folder)}
