"""Distillation: the best of the teachers' proposals, by their scores in both directions."""

from pathlib import Path
from typing import Any

import pytest
import torch

from model.__main__ import main
from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder
from model.adapters.requests.request import Decode
from model.bundle.weights import load_bundle, save_bundle
from model.train import training_examples
from model.train.data import TrainingExample, read_back
from model.train.training_examples import Teaching, distil, distilled, mean_logprobs, proposals

TEXTS = ["one two", "six", "three three four one", "five two six", "two four four"]
# No pair equals the output of a model that counts, so that none is left out as known.
PAIRS = [("one two", "三"), ("six", "四"), ("one two", "五五"), ("four", "一二三")]
KNOWN = ("five", "五")


def mistaken(learnt: Path, folder: Path, noise: float) -> tuple[Path, ...]:
    """Two models that count, with different mistakes."""
    base, paths = load_bundle(learnt / "bundle"), []
    for seed in (1, 2):
        torch.manual_seed(seed)
        state = {
            name: value + noise * value.std() * torch.randn_like(value)
            if value.dim() > 1
            else value
            for name, value in base.model.state_dict().items()
        }
        paths.append(folder / f"teacher-{seed}")
        save_bundle(paths[-1], state, base.model.config, base.tokenizer, "Teacher")
    return tuple(paths)


@pytest.fixture(scope="module")
def teachers(learnt: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    return mistaken(learnt, tmp_path_factory.mktemp("teachers"), 0.3)


def opened(path: Path) -> EncoderDecoder:
    return EncoderDecoder(load_bundle(path), "teacher")


def test_proposals_are_those_of_each_sentence_alone(teachers: tuple[Path, ...]) -> None:
    teacher = opened(teachers[0])
    found = proposals(teacher, TEXTS, "en-zh", 3)
    assert sum(map(len, found)) > len(TEXTS)
    for text, mine in zip(TEXTS, found, strict=True):
        *_, last = teacher.decode(text, direction="en-zh", decode=Decode("beam", beam=3)).steps
        alone = [teacher.written(one.ids)[0] for one in last.written if one.finished]
        assert mine == [one for one in dict.fromkeys(alone) if one]
    assert proposals(teacher, ["two " * 200], "en-zh", 3) == [[]]


def test_scores_are_those_of_a_trace(teachers: tuple[Path, ...]) -> None:
    """Compare with the adapter one by one, which shares no batching code."""
    teacher = opened(teachers[0])
    texts = [*TEXTS, "一二三", "六"]
    examples = [
        TrainingExample(one, other, language)
        for one in texts
        for other in texts[::-1]
        for language in ("en", "zh")
    ]
    found = mean_logprobs(teacher, examples)
    for example, score in zip(examples, found.tolist(), strict=True):
        direction = "en-zh" if example.language == "zh" else "zh-en"
        trace = teacher.trace(example.source, direction=direction, target=example.target, select=())
        own = trace.output.logprobs
        assert score == pytest.approx(sum(own) / len(own), abs=1e-5)
    too_long = TrainingExample("two " * 200, "二", "zh")
    assert mean_logprobs(teacher, [too_long, examples[0]]).tolist()[0] == -torch.inf


@pytest.mark.parametrize("reverse", [0.0, 1.0])
@pytest.mark.parametrize("direction", ["en-zh", "zh-en"])
def test_the_best_proposal_by_both_scores_is_kept(
    teachers: tuple[Path, ...], direction: str, reverse: float
) -> None:
    read, written = direction.split("-")
    models = [opened(path) for path in teachers]
    texts = TEXTS if read == "en" else ["一二", "六", "三三四一", "五二六"]
    rows = distilled(Teaching(teachers, 3, reverse, "cpu"), texts, direction)
    assert [row[1 if read == "en" else 2] for row in rows] == texts
    for language, first, second in rows:
        text, kept = (first, second) if read == "en" else (second, first)
        assert language == written
        scores = {}
        for model in models:
            for own in proposals(model, [text], direction, 3)[0]:
                forth = [mean_logprobs(m, [TrainingExample(text, own, written)]) for m in models]
                back = [mean_logprobs(m, [TrainingExample(own, text, read)]) for m in models]
                scores[own] = float(sum(forth) + reverse * sum(back))
        assert len(scores) > 2
        assert scores[kept] == pytest.approx(max(scores.values()), abs=1e-5)


def test_the_score_of_the_source_decides_too(learnt: Path, tmp_path: Path) -> None:
    poor = mistaken(learnt, tmp_path, 0.6)
    kept = [distilled(Teaching(poor, 4, w, "cpu"), TEXTS, "en-zh") for w in (0.0, 50.0)]
    assert kept[0] != kept[1]


def test_a_train_set_is_distilled_in_parts(
    teachers: tuple[Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = tmp_path / "pairs.tsv"
    train.write_text("".join(f"{a}\t{b}\n" for a, b in [*PAIRS, KNOWN]), encoding="utf-8")
    whole, parted = tmp_path / "whole.tsv", tmp_path / "parted.tsv"
    line = ["distil", *map(str, teachers), "--train", str(train), "--beam", "2", "--device", "cpu"]
    main([*line, "--out", str(whole)])
    rows = read_back(whole)
    assert {language for language, _ in rows} == {"en", "zh"}
    read = [pair[language == "en"] for language, pair in rows]
    assert KNOWN not in [pair for _, pair in rows]
    assert read == [*dict.fromkeys(a for a, _ in PAIRS), *(b for _, b in PAIRS)]

    teaching = Teaching(teachers, 2, 1.0, "cpu", part=2)
    events = distil(teaching, [train], parted)
    first = next(events)
    assert (first.done, first.parts) == (1, 5)
    events.close()
    assert not parted.exists()
    calls = []

    def counted(*task: Any) -> list[training_examples.Row]:
        calls.append(task)
        return distilled(*task)

    monkeypatch.setattr(training_examples, "distilled", counted)
    assert [event.done for event in distil(teaching, [train], parted)] == [2, 3, 4, 5]
    assert len(calls) == 4, "what was done is not done again"
    assert parted.read_bytes() == whole.read_bytes()
    assert not [*tmp_path.glob("*.parts"), *tmp_path.glob("*.partial")]


def test_parts_of_something_else_are_refused(teachers: tuple[Path, ...], tmp_path: Path) -> None:
    train = tmp_path / "pairs.tsv"
    train.write_text("one\t一\ntwo\t二\n", encoding="utf-8")
    out = tmp_path / "out.tsv"
    events = distil(Teaching(teachers, 2, 1.0, "cpu", part=1), [train], out)
    next(events)
    events.close()
    line = ["distil", *map(str, teachers), "--train", str(train), "--out", str(out), "--beam", "3"]
    with pytest.raises(
        SystemExit, match=r"out.tsv.parts has parts with beam 2, not 3; part 1, not 2000"
    ):
        main(line)
