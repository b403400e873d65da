"""Training: the paper's schedule, complete batches, runs that end as specified."""

import json
from collections import Counter
from pathlib import Path

import pytest
import torch
from filelock import FileLock
from safetensors.torch import load_file

from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.adapters.requests.request import Decode
from model.text.tokens import Tokenizer
from model.train.combined_weights import average
from model.train.data import Corpus, TrainingExample, both_ways
from model.train.metrics import translate
from model.train.plan import TrainingOptions, cooling, learning_rate
from model.train.run_state import write
from tests.model.counting import COUNTING, SHAPE, train, words


def test_the_schedule_is_equation_3() -> None:
    assert learning_rate(1, 512, 4000) == pytest.approx(512**-0.5 * 4000**-1.5)
    assert learning_rate(4000, 512, 4000) == pytest.approx(512**-0.5 * 4000**-0.5)
    assert learning_rate(16000, 512, 4000) == pytest.approx(512**-0.5 * 16000**-0.5)
    rates = [learning_rate(step, 256, 50) for step in range(1, 200)]
    assert rates.index(max(rates)) == 49
    # If Adam restarts, the rate rises from 0, as fast as at first, up to the usual schedule.
    assert learning_rate(901, 512, 100, begun=900) == learning_rate(1, 512, 100)
    assert learning_rate(932, 512, 100, begun=900) < learning_rate(932, 512, 100)
    assert learning_rate(933, 512, 100, begun=900) == learning_rate(933, 512, 100)


def test_cooling_is_a_line_down_to_nothing() -> None:
    assert cooling(700, 1000, 200) == 1
    assert cooling(801, 1000, 200) == 1
    assert cooling(901, 1000, 200) == pytest.approx(0.5)
    assert cooling(1000, 1000, 200) == pytest.approx(1 / 200)
    assert cooling(5000, 0, 200) == cooling(5000, 1000, 0) == 1


def test_an_epoch_holds_every_example_once(tokenizer: Tokenizer) -> None:
    texts = [("A cat " * n, "猫" * n) for n in range(1, 30)]
    examples = both_ways(texts, ("en", "zh"))
    corpus = Corpus(examples, tokenizer, 64, torch.device("cpu"))
    expected = sorted(
        ([tokenizer.tag(e.language).id, *ids, tokenizer.eos], [*wanted, tokenizer.eos])
        for e in examples
        for ids, wanted in [tokenizer.ids([e.source, e.target])]
    )
    seen = []
    for batch in corpus.batches(400, seed=1, epoch=2):
        assert batch.source.numel() + batch.written.numel() <= 400
        assert torch.equal(batch.source_real, batch.source != tokenizer.pad)
        for i in range(len(batch.source)):
            source = batch.source[i][batch.source_real[i]].tolist()
            written = batch.written[i][batch.target_real[i]].tolist()
            read = batch.read[i][batch.target_real[i]].tolist()
            assert read == [tokenizer.bos, *written[:-1]]
            seen.append((source, written))
    assert sorted(seen) == expected

    def order(seed: int, epoch: int, skip: int = 0) -> list[list[list[int]]]:
        return [b.source.tolist() for b in corpus.batches(400, seed, epoch, skip)]

    assert order(1, 2) == order(1, 2) != order(1, 3)
    assert order(1, 2, skip=3) == order(1, 2)[3:]
    assert corpus.count(400) == pytest.approx(len(order(1, 2)), abs=2)


def test_an_epoch_has_as_much_of_an_example_as_it_weighs(tokenizer: Tokenizer) -> None:
    weights = {"a": 1.0, "b": 0.25, "c": 2.5}
    examples = [
        TrainingExample(" ".join(source * n), "one", "en", weight)
        for source, weight in weights.items()
        for n in range(1, 21)
    ]
    corpus = Corpus(examples, tokenizer, 64, torch.device("cpu"))
    words = {tuple(tokenizer.ids([one.source])[0]): one.source[0] for one in examples}
    seen: Counter[str] = Counter()
    for epoch in range(40):
        for batch in corpus.batches(200, 1, epoch):
            rows = zip(batch.source.tolist(), batch.source_real.sum(1).tolist(), strict=True)
            seen.update(words[tuple(row[1 : length - 1])] for row, length in rows)
    for source, weight in weights.items():
        assert seen[source] / (20 * 40) == pytest.approx(weight, abs=0.06)
    assert sum(len(rows) for rows, _ in corpus.all_once(200)) == len(examples)


def test_examples_too_long_are_left_out(tokenizer: Tokenizer) -> None:
    examples = [TrainingExample("猫" * n, "cat", "en") for n in (5, 62, 63, 100)]
    assert len(Corpus(examples, tokenizer, 64, torch.device("cpu"))) == 2


def test_averaging(tmp_path: Path) -> None:
    for value in (1.0, 2.0, 6.0):
        write(tmp_path / f"{value}.safetensors", {"w": torch.full((2,), value)}, {})
    mean = average(sorted(tmp_path.glob("*.safetensors")))
    assert torch.equal(mean["w"], torch.full((2,), 3.0))


def test_learning_to_count(data: list[str], counted: Path, tmp_path: Path) -> None:
    bundle, line = counted / "bundle", [str(counted), *data, *COUNTING, *SHAPE]
    adapter = load(bundle, "cpu")
    assert translate(adapter, ["three one two"], "en-zh", Decode()) == ["三一二"]
    too_long = "一" * 200
    found = translate(adapter, ["五六", too_long], "zh-en", Decode("beam"))
    assert found == ["five six", ""]
    held = counted / "run.json"
    told = json.loads(held.read_text())
    assert told.pop("adam_beta2") == 0.98  # the default, as before the option existed
    held.write_text(json.dumps(told))
    progress = (bundle / "training.json").read_text()
    train(line)
    assert (bundle / "training.json").read_text() == progress  # it had ended, so nothing changed
    assert json.loads(held.read_text()) == {**told, "adam_beta2": 0.98}
    with pytest.raises(
        SystemExit, match=r"has a run with adam_beta2 0\.98, not 0\.9; seed 1, not 2"
    ):
        train([*line, "--seed", "2", "--adam-beta2", "0.9"])
    with pytest.raises(SystemExit, match="no pair is left of 600"):
        train([str(tmp_path / "empty"), "--held-out", data[1], *data])
    assert not (tmp_path / "empty" / "run.json").exists()  # so that a corrected line can go on
    kept = [path.stem for path in sorted((counted / "snapshots").iterdir())]
    assert kept == ["000000", "000100", "000141"]


def test_a_run_that_has_cooled_down_moves_no_more(data: list[str], tmp_path: Path) -> None:
    options = words("--raw --steps 3 --batch 400 --warmup 2 --augment 0 --average 1")
    moved = {}
    for cooldown in ("0", "1000000000"):
        train([str(tmp_path / cooldown), *data, *options, *SHAPE, "--cooldown", cooldown])
        first = load_file(tmp_path / cooldown / "snapshots" / "000000.safetensors")
        last = load_file(tmp_path / cooldown / "checkpoints" / "000003.safetensors")
        moved[cooldown] = max(float((last[n] - first[n]).abs().max()) for n in first)
    assert moved["0"] > 1e-2
    assert moved["1000000000"] < 1e-6


def test_keys_learn_no_bias(data: list[str], tmp_path: Path) -> None:
    """The gradient of this bias is rounding, which Adam would scale to full steps."""
    options = words("--raw --steps 3 --batch 400 --warmup 2 --augment 0 --average 1")
    train([str(tmp_path), *data, *options, *SHAPE])
    last = load_file(tmp_path / "checkpoints" / "000003.safetensors")
    biases = {name: value for name, value in last.items() if ".W_" in name and "bias" in name}
    assert len(biases) == 3 * 4 + 2 * 2  # of three attentions, of two feed-forward layers
    for name, value in biases.items():
        assert value.any() == ("W_k" not in name), name


def test_pre_norm_is_learnt(data: list[str], tmp_path: Path) -> None:
    options = words("--raw --steps 40 --batch 1500 --warmup 20 --augment 0 --norm pre")
    bundle = train([str(tmp_path), *data, *options, *SHAPE])
    assert json.loads((bundle / "training.json").read_text())["best"] < 2  # ln 9 knows nothing
    assert load(bundle, "cpu").trace("one two").output.text


def test_a_folder_is_locked_during_training(data: list[str], tmp_path: Path) -> None:
    line = [str(tmp_path), *data, "--raw", *SHAPE]
    with (
        FileLock(tmp_path / "lock"),
        pytest.raises(SystemExit, match="by another training process"),
    ):
        train(line)
    assert [path.name for path in tmp_path.iterdir()] == ["lock"]
    assert train([*line, "--steps", "1"]) == tmp_path / "bundle"


def test_one_way_reads_and_writes_whole_words(data: list[str], tmp_path: Path) -> None:
    """The vocabulary has both languages in the order of the columns, even for one direction."""
    options = words("--raw --one-way --languages zz aa --steps 1 --batch 400 --augment 0 --every 1")
    bundle = train([str(tmp_path), *data, *options, *SHAPE])
    adapter = load(bundle, "cpu")
    assert adapter.info.languages == ("zz", "aa")
    assert [token.text for token in adapter.trace("three one").texts["source"][1:-1]] == [
        "three",
        " one",
    ]
    assert adapter.info.directions == ("zz-aa",)
    look_back = json.loads((bundle / "training.json").read_text())
    both = train([str(tmp_path / "both"), *data, *[o for o in options if o != "--one-way"], *SHAPE])
    assert json.loads((both / "training.json").read_text())["epochs"] < look_back["epochs"]
    assert load(both, "cpu").info.directions == ("zz-aa", "aa-zz")


@pytest.mark.parametrize(
    ("ends", "steps"), [("--patience 2 --learning-rate 0", 6), ("--minutes 1e-9", 1)]
)
def test_a_run_ends(ends: str, steps: int, data: list[str], tmp_path: Path) -> None:
    """A run ends after two looks without progress, or after its time."""
    options = words(f"--raw --batch 400 --augment 0 --every 2 --average 1 {ends}")
    bundle = train([str(tmp_path), *data, *options, *SHAPE])
    progress = json.loads((bundle / "training.json").read_text())
    assert progress["step"] == steps
    assert progress["history"][-1]["step"] == steps


def test_options_that_make_no_sense_are_refused() -> None:
    with pytest.raises(ValueError, match="average must be at least 1, not 0"):
        TrainingOptions(average=0)
    with pytest.raises(ValueError, match="cooldown needs steps"):
        TrainingOptions(cooldown=5)
    tokenizer = Tokenizer.train(["one two three four"], 300)
    with pytest.raises(ValueError, match="none of 1 examples fits into 3 tokens"):
        Corpus([TrainingExample("one two three", "one", "zh")], tokenizer, 3, torch.device("cpu"))
