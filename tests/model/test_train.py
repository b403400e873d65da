"""Training: the paper's schedule, batches that lose nothing, a run that survives being killed."""

import gzip
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from model.adapters import load
from model.request import Decode
from model.tokens import Tokenizer
from model.train.__main__ import main
from model.train.data import Corpus, Example, augment, both_ways, read_pairs
from model.train.metrics import TestSet, read_test_sets, score, translate
from model.train.options import learning_rate
from model.train.state import average, write

WORDS = {"one": "一", "two": "二", "three": "三", "four": "四", "five": "五", "six": "六"}


def words(line: str) -> list[str]:
    return line.split()


SHAPE = words("--d-model 32 --heads 2 --d-ff 64 --encoder-layers 1 --decoder-layers 1 --dropout 0")


@pytest.fixture(scope="session")
def counting(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A language that is quickly learnt: numbers, word for word."""
    chance = random.Random(0)
    rows = []
    for _ in range(600):
        words = chance.choices(list(WORDS), k=chance.randint(1, 4))
        rows.append(" ".join(words) + "\t" + "".join(WORDS[word] for word in words))
    path = tmp_path_factory.mktemp("data") / "pairs.tsv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_the_schedule_is_equation_3() -> None:
    assert learning_rate(1, 512, 4000) == pytest.approx(512**-0.5 * 4000**-1.5)
    assert learning_rate(4000, 512, 4000) == pytest.approx(512**-0.5 * 4000**-0.5)
    assert learning_rate(16000, 512, 4000) == pytest.approx(512**-0.5 * 16000**-0.5)
    rates = [learning_rate(step, 256, 50) for step in range(1, 200)]
    assert rates.index(max(rates)) == 49


def test_reading_pairs(tmp_path: Path) -> None:
    plain = tmp_path / "a.tsv"
    plain.write_text("7\tHi  there.\t你好。\n\t \nA\t一\n", encoding="utf-8")
    packed = tmp_path / "a.tsv.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_pairs(plain) == read_pairs(packed) == [("Hi there.", "你好。"), ("A", "一")]
    plain.write_text("one column\n")
    with pytest.raises(ValueError, match="line 1: 1 columns"):
        read_pairs(plain)


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
        assert batch.source.numel() <= 200
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


def test_examples_too_long_are_left_out(tokenizer: Tokenizer) -> None:
    examples = [Example("猫" * n, "cat", "en") for n in (5, 62, 63, 100)]
    assert len(Corpus(examples, tokenizer, 64, torch.device("cpu"))) == 2


def test_augmenting_is_seeded_and_keeps_translations() -> None:
    examples = both_ways([("The cat.", "猫。"), ("A dog!", "狗！")], ("en", "zh"))
    made = augment(examples, 5.0, seed=1)
    assert len(made) == 20
    assert made == augment(examples, 5.0, seed=1) != augment(examples, 5.0, seed=2)
    assert Example("The cat. A dog!", "猫。狗！", "zh") in made
    assert {e.source for e in made} & {"the cat.", "THE CAT.", "The cat"}


def test_averaging(tmp_path: Path) -> None:
    for value in (1.0, 2.0, 6.0):
        write(tmp_path / f"{value}.safetensors", {"w": torch.full((2,), value)}, {})
    mean = average(sorted(tmp_path.glob("*.safetensors")))
    assert torch.equal(mean["w"], torch.full((2,), 3.0))


def test_learning_to_count(counting: Path, tmp_path: Path) -> None:
    options = words("--epochs 40 --batch 1500 --warmup 60 --every 50 --average 2 --augment 0")
    bundle = main(
        [str(tmp_path), "--train", str(counting), "--dev", str(counting), *options, *SHAPE]
    )
    adapter = load(bundle, "cpu")
    assert translate(adapter, ["three one two"], "en-zh", Decode()) == ["三一二"]
    too_long = "一" * 200
    found = translate(adapter, ["五六", too_long], "zh-en", Decode("beam"))
    assert found == ["five six", ""]
    with pytest.raises(SystemExit, match="holds a run with other options"):
        main([str(tmp_path), "--train", str(counting), "--dev", str(counting), "--seed", "2"])


def test_a_killed_run_goes_on_as_if_it_had_not_been(counting: Path, tmp_path: Path) -> None:
    """SIGKILL in the midst of an epoch, then the same line again: the same weights, bit for bit."""
    options = words("--epochs 6 --batch 400 --warmup 30 --every 20 --average 2")
    shape = [*SHAPE[:-1], "0.1"]  # dropout: the random numbers must go on too

    def command(folder: str) -> list[str]:
        data = ["--train", str(counting), "--dev", str(counting), "--device", "cpu"]
        return [
            sys.executable,
            "-m",
            "model.train",
            str(tmp_path / folder),
            *data,
            *options,
            *shape,
        ]

    whole = subprocess.run(command("whole"), capture_output=True, text=True, check=True)
    assert "resuming" not in whole.stderr
    killed = subprocess.Popen(command("killed"), stderr=subprocess.DEVNULL)
    state = tmp_path / "killed" / "state.safetensors"
    deadline = time.monotonic() + 60
    while not state.is_file() and time.monotonic() < deadline:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not (tmp_path / "killed" / "bundle").exists()
    resumed = subprocess.run(command("killed"), capture_output=True, text=True, check=True)
    assert "resuming at step" in resumed.stderr
    one, other = (
        load_file(tmp_path / folder / "bundle" / "weights.safetensors")
        for folder in ("whole", "killed")
    )
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_test_sets_group_their_references(tmp_path: Path) -> None:
    path = tmp_path / "test.tsv"
    rows = ["0\tHi.\t你好吗？", "0\tHello.\t你好吗？", "0\tHi.\t您好吗？", "1\tNo, no.\t不，不。"]
    path.write_text("\n".join(rows) + "\n", "utf-8")
    to_zh, to_en = read_test_sets(path)
    assert to_zh == TestSet(
        "en-zh",
        ("Hi.", "Hello.", "No, no."),
        (("你好吗？", "您好吗？"), ("你好吗？", "您好吗？"), ("不，不。",)),
    )
    assert to_en.sources == ("你好吗？", "您好吗？", "不，不。")
    assert to_en.references[0] == ("Hi.", "Hello.")
    perfect = score(to_zh, ["您好吗？", "你好吗？", "不，不。"])
    assert perfect["bleu"] == pytest.approx(100)
    assert "tok:zh" in str(perfect["bleu_signature"])
    assert score(to_zh, ["错"] * 3)["bleu"] == 0
