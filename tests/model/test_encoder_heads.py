"""An encoder with another number of heads than the decoder."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from model.adapters.encoder_decoder.drafts import open_drafter
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.adapters.requests.request import Request
from model.bundle.measurements import MEANS, REPORT
from model.bundle.weights import Bundle, load_bundle, save_bundle
from model.errors import InputError
from model.measure.heads import write_means, write_report
from model.text.tokens import Tokenizer
from model.trace.interventions import Intervention
from model.transformer.config import ModelConfig
from model.transformer.stacks import Transformer
from tests.model.drafted import assert_same, one_by_one
from tests.model.reference import differences, our_stacks, torch_stacks

SENTENCES = ["The cat sat on the mat.", "A dog.", "I don't know who she is.", "猫坐在垫子上。"]


@pytest.fixture(scope="module")
def folder(
    tokenizer: Tokenizer, config: ModelConfig, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    torch.manual_seed(0)
    own = replace(config, encoder_heads=2)
    made = tmp_path_factory.mktemp("two") / "two"
    save_bundle(made, Transformer(own).state_dict(), own, tokenizer, "Two")
    return made


@pytest.fixture
def bundle_of_two(folder: Path) -> Bundle:
    return load_bundle(folder)


@pytest.mark.parametrize("norm", ["post", "pre"])
@pytest.mark.parametrize("heads", [1, 2, 8])
def test_it_equals_torchs_stacks(norm: str, heads: int) -> None:
    ours = our_stacks(norm, heads)
    for length in (1, 7, 33, 64):
        assert max(differences(ours, torch_stacks(ours), length)) < 1e-5


def test_it_is_another_model_than_with_as_many_heads() -> None:
    two, four = our_stacks(encoder_heads=2), our_stacks()
    assert differences(two, torch_stacks(four), 20)[0] > 0.01


def test_its_traces_are_the_same_in_company_and_drafted(
    bundle_of_two: Bundle, tmp_path: Path
) -> None:
    adapter = EncoderDecoder(bundle_of_two, "two")
    counts = {one.place: one.heads for one in adapter.info.attentions}
    assert counts == {
        place: 2 if place.startswith("encoder") else 4 for place in adapter.info.places
    }
    requests = [Request(text, select=("*.weights", "*.q")) for text in SENTENCES]
    alone = one_by_one(bundle_of_two, requests)
    assert_same(adapter.run(requests), alone)
    drafter = open_drafter(bundle_of_two, tmp_path)
    assert drafter
    assert_same(one_by_one(bundle_of_two, requests, drafter), alone)
    for trace in alone:
        for place, heads in counts.items():
            weights = trace[f"{place}.weights"].value
            assert len(weights) == heads
            assert trace[f"{place}.q"].shape == (heads, weights.shape[1], 32 // heads)


def test_an_intervention_on_a_head_that_it_lacks_is_an_error(bundle_of_two: Bundle) -> None:
    adapter = EncoderDecoder(bundle_of_two, "two")
    [off] = adapter.run(
        [Request(SENTENCES[0], interventions=(Intervention("encoder.0.self", "zero", head=1),))]
    )
    assert off.output.tokens
    with pytest.raises(InputError, match="head"):
        adapter.validate(
            Request(SENTENCES[0], interventions=(Intervention("encoder.0.self", "zero", head=2),))
        )


def test_its_means_and_its_heads_are_measured(folder: Path, tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("A dog.\t狗。\nThe cat sat on the mat.\t猫坐在垫子上。\n")
    write_means(folder, [pairs], 2)
    write_report(folder, pairs, None, 2)
    adapter = load(folder, "cpu")
    assert isinstance(adapter, EncoderDecoder)
    for name, mean in adapter.means.items():
        assert mean.shape == ((2, 16) if name.startswith("encoder") else (4, 8))
    counts = {one.place: one.heads for one in adapter.info.attentions}
    known = {(place, head) for place, count in counts.items() for head in range(count)}
    rows = json.loads((folder / REPORT).read_text())["heads"]
    assert [(row["attention"], row["head"]) for row in rows] == [
        (place, head) for place in adapter.info.places for head in range(counts[place])
    ]
    for row in rows:
        place, head = row["double"]
        assert (place, head) in known - {(row["attention"], row["head"])}
        assert place.split(".")[::2] == row["attention"].split(".")[::2], "of the same kind"
    with pytest.raises(ValueError, match="do not fit the config"):
        _with_means_of_four(folder)


def _with_means_of_four(folder: Path) -> None:
    """Read means as a model with as many heads in both stacks has them."""
    means = load_file(folder / MEANS)
    with safe_open(folder / MEANS, framework="pt") as file:
        about = file.metadata()
    means["encoder.0.self.mix"] = torch.zeros(4, 8)
    save_file(means, folder / MEANS, about)
    load(folder, "cpu")


@pytest.mark.parametrize(
    ("heads", "words"),
    [(0, "encoder_heads must be at least 1, not 0"), (3, "not a multiple of encoder_heads 3")],
)
def test_an_impossible_number_is_an_error(config: ModelConfig, heads: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        replace(config, encoder_heads=heads)
