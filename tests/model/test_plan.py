"""A plan from a file or command line; a run yields events and can be stopped at any of them."""

import json
import pickle
import shutil
import signal
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest
import torch
from filelock import FileLock
from safetensors.torch import load_file

from model.__main__ import main
from model.train.events import Event, Finished, Look, Snapshot, Started, Step, Tidied
from model.train.plan import PLAN_OPTIONS, TrainingData, TrainingOptions, TrainingPlan, read_plan
from model.train.run import kernel_for, train
from model.transformer.config import ModelConfig
from tests import forked_processes


def planned(folder: Path, data: list[str]) -> TrainingPlan:
    """Eight steps over two epochs, with dropout and all other random options."""
    return TrainingPlan(
        folder,
        TrainingData((Path(data[1]),), (Path(data[3]),), raw=True),
        TrainingOptions(batch=3000, steps=8, every=3, warmup=4, average=2, seed=5),
        ModelConfig(300, 32, 2, 64, 1, 1, attention_dropout=0.1, head_dropout=0.3),
        device="cpu",
    )


def test_fused_kernel_is_taken_where_it_computes_the_same() -> None:
    options, config = TrainingOptions(), ModelConfig(300)
    kernels = {
        (where, positions): kernel_for(replace(config, positions=positions), options, device)
        for where, device in (("gpu", torch.device("cuda")), ("cpu", torch.device("cpu")))
        for positions in ("sinusoidal", "rotary", "relative")
    }
    fast = {key for key, kernel in kernels.items() if kernel == "fused"}
    assert fast == {("gpu", "sinusoidal"), ("gpu", "rotary")}
    for needs_weights in (replace(options, guide=1.0), replace(options, head_divergence=0.1)):
        assert kernel_for(config, needs_weights, torch.device("cuda")) == "explicit"


@pytest.fixture
def plan(data: list[str], tmp_path: Path) -> TrainingPlan:
    return planned(tmp_path / "run", data)


@pytest.fixture(scope="module")
def whole(data: list[str], tmp_path_factory: pytest.TempPathFactory) -> TrainingPlan:
    """The same plan, trained without interruption."""
    plan = planned(tmp_path_factory.mktemp("whole"), data)
    assert isinstance(list(train(plan))[-1], Finished)
    return plan


def weights(plan: TrainingPlan) -> dict[str, torch.Tensor]:
    return load_file(plan.folder / "bundle" / "weights.safetensors")


def test_a_plan_survives_json(plan: TrainingPlan) -> None:
    told = json.loads(json.dumps(plan.to_json()))
    assert TrainingPlan.from_json(told) == plan
    assert pickle.loads(pickle.dumps(plan)) == plan
    assert told.keys() == PLAN_OPTIONS.keys()
    least = TrainingPlan.from_json({"folder": "a", "train": ["b"], "dev": ["c"]})
    assert least == TrainingPlan(Path("a"), TrainingData((Path("b"),), (Path("c"),)))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"dev": ["d"], "speed": 3}, "has no speed"),
        ({}, "needs dev"),
        ({"dev": "d"}, "dev must be a list of strings, not 'd'"),
        ({"dev": ["d"], "languages": ["en", "zh", "de"]}, "languages must be two strings, not"),
        ({"dev": ["d"], "steps": "9"}, "steps must be int, not '9'"),
        ({"dev": ["d"], "steps": True}, "steps must be int, not True"),
        ({"dev": ["d"], "average": 0}, "average must be at least 1, not 0"),
        ({"dev": ["d"], "norm": "mid"}, "unknown norm: mid"),
        ({"dev": ["d"], "sampled": ["a.tsv"]}, "sampled must have FILE=WEIGHT"),
        ({"dev": ["d"], "sampled": ["a.tsv=11"]}, "at most 10, not a.tsv=11"),
        ({"dev": ["d"], "sampled": ["a.tsv=nan"]}, "not a.tsv=nan"),
    ],
)
def test_a_plan_says_what_is_wrong_with_it(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        TrainingPlan.from_json({"folder": "a", "train": ["b"], **wrong})


def test_a_file_and_a_line_make_a_plan(
    plan: TrainingPlan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command line takes precedence; other options have their defaults."""
    seen: list[TrainingPlan] = []

    def noted(plan: TrainingPlan) -> Iterator[Event]:
        seen.append(plan)
        return iter(())

    monkeypatch.setattr("model.commands.models.train", noted)
    file = tmp_path / "plan.toml"
    file.write_text(
        'train = ["a.tsv"]\ndev = ["b.tsv"]\nraw = true\nlanguages = ["en", "de"]\n'
        "steps = 7\nlearning_rate = 2\nd_model = 64\n"
    )
    main(["train", "there", "--plan", str(file), "--steps", "9", "--no-raw", "--minutes", "0.5"])
    [made] = seen
    assert made.folder == Path("there")
    assert made.data == TrainingData((Path("a.tsv"),), (Path("b.tsv"),), languages=("en", "de"))
    assert made.options == TrainingOptions(steps=9, learning_rate=2.0, minutes=0.5)
    assert made.model == ModelConfig(8000, d_model=64)
    file.with_suffix(".json").write_text(json.dumps(plan.to_json()))
    assert TrainingPlan.from_json(read_plan(file.with_suffix(".json"))) == plan


def test_events_tell_the_run(plan: TrainingPlan) -> None:
    events = list(train(plan))
    kinds = [type(event) for event in events]
    assert kinds[:3] == [Tidied, Started, Snapshot]
    assert kinds[3:] == [*[Step, Step, Step, Look] * 2, Step, Step, Look, Finished]
    for event in events:
        assert pickle.loads(pickle.dumps(event)) == event
        json.dumps(asdict(event))
    steps = [event for event in events if isinstance(event, Step)]
    looks = [event for event in events if isinstance(event, Look)]
    assert [step.step for step in steps] == [*range(1, 9)]
    assert [step.rate for step in steps] == [plan.options.rate(n, 32) for n in range(1, 9)]
    assert looks[0].train == pytest.approx(sum(step.loss for step in steps[:3]) / 3)
    assert looks[0].train == pytest.approx(steps[2].mean)
    training = json.loads((plan.folder / "bundle" / "training.json").read_text())
    assert [look["dev"] for look in training["history"]] == [look.dev for look in looks]
    assert steps[-1].tokens == training["tokens"]


@pytest.mark.parametrize("after", [2, 4, 6, 11])
def test_a_closed_generator_can_be_resumed(
    plan: TrainingPlan, whole: TrainingPlan, after: int
) -> None:
    """Stop at a snapshot, a step, a look: the same bits, whatever random numbers others draw."""
    torch.manual_seed(after)
    outside = torch.get_rng_state()
    running = train(plan)
    events = [next(running) for _ in range(after + 1)]
    assert torch.equal(torch.get_rng_state(), outside)
    running.close()
    with FileLock(plan.folder / "lock", timeout=0):
        assert not (plan.folder / "bundle").exists()
    for event in train(plan):
        torch.rand(3)
        if isinstance(event, Started):
            assert event.step == sum(isinstance(event, Step) for event in events)
    assert all(torch.equal(weights(plan)[name], one) for name, one in weights(whole).items())


def test_speed_and_time_left_are_of_this_process(plan: TrainingPlan, whole: TrainingPlan) -> None:
    """A bundle that trained for a year elsewhere is not expected to take as long here."""
    bundle = plan.folder.with_name("old")
    shutil.copytree(whole.folder / "bundle", bundle)
    file = bundle / "training.json"
    year = 365 * 24 * 3600.0
    trained = json.loads(file.read_text()) | {"seconds": year, "tokens": 10**9}
    file.write_text(json.dumps(trained))
    plan = replace(
        plan,
        data=replace(plan.data, start_from=bundle),
        options=replace(plan.options, steps=13),
    )
    steps = [event for event in train(plan) if isinstance(event, Step)]
    assert [step.step for step in steps] == [9, 10, 11, 12, 13]
    for done, step in enumerate(steps, 1):
        tokens = step.tokens - 10**9
        assert 0 < tokens / step.speed <= step.seconds - year < 600
        assert step.left == pytest.approx(tokens / step.speed / done * (5 - done))


KILLED_AT_5 = """
import os, signal, sys
from pathlib import Path
from model.train.events import Step
from model.train.plan import TrainingPlan, read_plan
from model.train.run import train

for event in train(TrainingPlan.from_json(read_plan(Path(sys.argv[1])))):
    if isinstance(event, Step) and event.step == 5:
        os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_resumes_identically(
    plan: TrainingPlan, whole: TrainingPlan, tmp_path: Path
) -> None:
    """A SIGKILL within an epoch, between two saved states, gives the same weights bit for bit."""
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan.to_json()))
    killed = forked_processes.run(["-c", KILLED_AT_5, str(file)])
    assert killed.returncode == -signal.SIGKILL
    assert not (plan.folder / "bundle").exists()
    [started] = [event for event in train(plan) if isinstance(event, Started)]
    assert started.step == 3
    assert all(torch.equal(weights(plan)[name], one) for name, one in weights(whole).items())
