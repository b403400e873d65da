"""A live run without a server: real training of a few seconds."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import get_args, get_type_hints

import pytest
import torch
from safetensors.torch import load_file

from model.adapters.encoder_decoder.encoder_decoder_adapter import EncoderDecoder, load
from model.errors import InputError
from model.live_training import live_run as live_run
from model.live_training.live_run import LiveRun, accuracy, adapter_of, probe, probes_of
from model.live_training.options_and_events import (
    MAX_TOKENS,
    Advanced,
    Begun,
    Ended,
    LiveEvent,
    LiveOptions,
    Observed,
    TaskName,
    keep,
    state_path,
    tasks_offered,
)
from model.train.data import Corpus, TrainingExample
from model.transformer.positions import POSITIONS
from model.transformer.scoring import SCORINGS
from model.transformer.stacks import Transformer
from model.zoo.measuring import accuracy as greedy
from model.zoo.measuring import held_out_examples
from model.zoo.registry import LANGUAGES, TASKS, tokenizer_of
from model.zoo.training import read_recipes

SMALL = LiveOptions("copy", longest=3, steps=12, d_model=16, batch=200)


@pytest.fixture(scope="module", autouse=True)
def _few_examples() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(live_run, "EXAMPLES", 400)
        patch.setattr(live_run, "HELD_OUT", 40)
        yield


def events(folder: Path, options: LiveOptions = SMALL) -> list[LiveEvent]:
    return list(LiveRun(folder, options, minutes=5).events())


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[LiveEvent]]:
    """The folder and the events of a run that has ended, read-only."""
    folder = tmp_path_factory.mktemp("finished")
    return folder, events(folder)


def test_what_can_be_chosen_is_what_there_is() -> None:
    hints = get_type_hints(LiveOptions)
    assert set(get_args(TaskName)) == TASKS.keys()
    assert set(get_args(hints["positions"])) <= POSITIONS.keys()
    assert set(get_args(hints["scoring"])) == SCORINGS.keys()


@pytest.mark.parametrize("task", TASKS)
def test_every_task_has_probes_that_fit(task: TaskName) -> None:
    tokenizer = tokenizer_of(TASKS[task])
    for longest in {None, tasks_offered()[task].most}:
        options = LiveOptions(task, longest=longest)
        options.check()
        for one in probes_of(options):
            assert TASKS[task].held_out(one)
            assert len(tokenizer.ids([one.source_text])[0]) + 2 <= MAX_TOKENS


def test_a_run_yields_its_events(finished: tuple[Path, list[LiveEvent]]) -> None:
    folder, (begun, first, *others, last) = finished
    assert isinstance(begun, Begun)
    assert isinstance(first, Observed)
    assert first.step == 0
    assert last == Ended("steps", 12)
    assert [one.step for one in others if isinstance(one, Observed)] == list(range(1, 13))
    assert [one.step for one in others if isinstance(one, Advanced)] == list(range(1, 13))
    for observed in (one for one in [first, *others] if isinstance(one, Observed)):
        assert state_path(folder, observed.step).is_file()
        for (source, target), probed in zip(begun.probes, observed.probes, strict=True):
            assert probed.trace.request.source == source
            assert probed.trace.output.text == target


def test_accuracy_is_that_of_greedy_decoding() -> None:
    """Use a trained model, at a length at which it is right only sometimes."""
    recipe, adapter = read_recipes()["copy"], load("zoo/copy", "cpu", measured=False)
    assert isinstance(adapter, EncoderDecoder)
    examples = held_out_examples(recipe, 13, 40)
    pairs = [TrainingExample(one.source_text, one.target_text, LANGUAGES[1]) for one in examples]
    corpus = Corpus(pairs, adapter.tokenizer, MAX_TOKENS, torch.device("cpu"))
    written = greedy(adapter, examples)
    assert 0 < written < 1
    assert accuracy(adapter.model, list(corpus.batches(300, 0, 0))) == written


def test_a_closed_run_resumes(finished: tuple[Path, list[LiveEvent]], tmp_path: Path) -> None:
    whole = [one for one in finished[1] if isinstance(one, Observed)]
    run = LiveRun(tmp_path / "cut", SMALL, minutes=5).events()
    heard: list[LiveEvent] = []
    for event in run:
        heard.append(event)
        if isinstance(event, Advanced) and event.step == 6:
            break
    run.close()
    heard += events(tmp_path / "cut")
    told = {one.step: one.loss for one in heard if isinstance(one, Observed)}
    assert told == {one.step: one.loss for one in whole}
    steps = [one.step for one in heard if isinstance(one, Advanced)]
    assert steps == list(range(1, 13)), "a step was told twice, or never"


def test_the_answers_are_those_of_the_step(tmp_path: Path) -> None:
    options = replace(SMALL, learning_rate=3.0, warmup=4)
    observed = [one for one in events(tmp_path, options) if isinstance(one, Observed)]
    tokenizer = tokenizer_of(TASKS["copy"])
    model = Transformer(options.config(len(tokenizer)))
    for one in (observed[0], observed[-1]):
        state = load_file(state_path(tmp_path, one.step))
        model.load_state_dict({k.removeprefix("model."): state[k] for k in state if "model." in k})
        again = probe(adapter_of(model, tokenizer, ""), probes_of(options))
        assert [p.written for p in again] == [p.written for p in one.probes]
    first, last = ([p.written for p in one.probes] for one in (observed[0], observed[-1]))
    assert first != last


def test_the_learning_rate_changes_from_the_next_step_on(tmp_path: Path) -> None:
    run = LiveRun(tmp_path, SMALL, minutes=5)
    rates = {}
    for event in run.events():
        if isinstance(event, Advanced):
            rates[event.step] = event.rate
            run.learning_rate = 0.0 if event.step >= 5 else run.learning_rate
    assert [step for step, rate in rates.items() if rate > 0] == [1, 2, 3, 4, 5]


def test_a_kept_snapshot_answers_as_the_model_did(
    finished: tuple[Path, list[LiveEvent]], tmp_path: Path
) -> None:
    folder, heard = finished
    last = [one for one in heard if isinstance(one, Observed)][-1]
    keep(folder, 12, SMALL, "mine", "# Mine", tmp_path / "bundle")
    adapter = load(tmp_path / "bundle", "cpu")
    assert adapter.info.card == "# Mine"
    request = last.probes[0].trace.request
    mine = adapter.run([request])[0]["decoder.0.cross.weights"].value
    theirs = last.probes[0].trace["decoder.0.cross.weights"].value
    assert torch.allclose(mine, theirs, atol=2e-3)  # half precision
    state = load_file(state_path(folder, 12))
    assert {name for name in state if name.startswith("adam.")}


def test_a_loss_of_nan_does_not_stop_a_run(tmp_path: Path) -> None:
    wild = replace(SMALL, learning_rate=100.0, warmup=1, steps=10, norm="pre")
    assert events(tmp_path, wild)[-1] == Ended("steps", 10)


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"longest": 17}, "longest"),
        ({"heads": 3}, "heads"),
        ({"d_model": 9, "heads": 1}, "positions"),
        ({"task": "who", "longest": 3}, "longest"),
    ],
)
def test_options_that_do_not_fit_are_refused(changed: dict[str, object], field: str) -> None:
    options = replace(LiveOptions(), **changed)  # type: ignore[arg-type]
    with pytest.raises(InputError) as error:
        options.check()
    assert error.value.field == field


def test_a_fork_may_change_what_has_no_parameters() -> None:
    parent = LiveOptions()
    for changed in ({"heads": 4}, {"mask": "window-3"}, {"scoring": "dot"}, {"task": "copy"}):
        replace(parent, **changed).check_fork(parent, 100)
    others = ({"d_model": 32}, {"norm": "pre"}, {"positions": "learned"}, {"task": "addition"})
    for other in others:
        with pytest.raises(InputError):
            replace(parent, **other).check_fork(parent, 100)
    with pytest.raises(InputError):
        parent.check_fork(parent, parent.steps)
