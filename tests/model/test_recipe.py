"""Recipes: stages that depend on one another, with the same results however often killed."""

import json
import os
import shutil
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from model.__main__ import main
from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.bundle.weights import digest_of, load_bundle
from model.recipe import DONE, digest, read_recipe, run_recipe
from model.train.data import read_back
from model.train.events import Event, Look, StageBegun, StageDone
from model.train.training_examples import RefusedError
from tests import forked_processes
from tests.model.counting import SHAPE

EXPERIMENTS = Path("experiments")
OPTIONS = {
    option[2:].replace("-", "_"): value
    for option, value in zip(SHAPE[::2], SHAPE[1::2], strict=True)
}
RECIPE = """
[all]
raw = true
augment = 0.0
batch = 1500
warmup = 40
every = 10
average = 2
train = ["$PAIRS/train.tsv"]
dev = ["$PAIRS/dev.tsv"]
SHAPE
[stages.base]
steps = 40

[stages.branch-1]
start_from = "base"
steps = 60

[stages.branch-2]
start_from = "base/bundle"
seed = 2
steps = 60

[stages.mean]
do = "average"
bundles = ["branch-1", "branch-2"]

[stages.lessons]
do = "distil"
teachers = ["mean", "branch-1"]
train = ["$LESSONS"]
beam = 2
part = 20

[stages.student]
back = ["lessons"]
seed = 3
steps = 20

[stages.measured]
do = "measure"
bundle = "student"
train = ["$PAIRS/train.tsv"]
dev = "$PAIRS/dev.tsv"
tests = { toy = "$PAIRS/dev.tsv" }
predecessor = "$BEFORE"
survey = "Toy, dev split"
certainty = { toy = "$PAIRS/dev.tsv" }
pairs = 20
heads = 4
""".replace("SHAPE", "\n".join(f"{k} = {v}" for k, v in OPTIONS.items()))


@pytest.fixture(scope="module")
def made(data: list[str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The recipe's file; the files that it names are in the environment."""
    folder = tmp_path_factory.mktemp("recipe")
    rows = Path(data[1]).read_text(encoding="utf-8").splitlines(keepends=True)
    (folder / "lessons.tsv").write_text("".join(rows[:40]), encoding="utf-8")
    before = folder / "before"
    before.mkdir()
    (before / "card.template.md").write_text("# Toy\n\n$digest\n\n$scores\n", encoding="utf-8")
    (before / "corpus.txt").write_text("".join(rows[:3]), encoding="utf-8")
    (folder / "toy.toml").write_text(RECIPE, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PAIRS", str(Path(data[1]).parent))
        patch.setenv("LESSONS", str(folder / "lessons.tsv"))
        patch.setenv("BEFORE", str(before))
        yield folder / "toy.toml"


@pytest.fixture
def recipe(made: Path, tmp_path: Path) -> Path:
    """A copy of the recipe's file, which a test may change."""
    return Path(shutil.copy(made, tmp_path))


@pytest.fixture(scope="module")
def whole(made: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Event]]:
    """The folder and the events of a run without interruption, read-only."""
    folder = tmp_path_factory.mktemp("whole")
    return folder, list(run_recipe(read_recipe(made, folder), "cpu"))


def killed_at(place: Path, line: list[str]) -> None:
    """Run a command in its own process and kill it once `place` exists."""
    with forked_processes.open_memory() as said:
        process = forked_processes.start(
            ["-m", "model", *line], stdout=said.fileno(), stderr=said.fileno()
        )
        while not place.exists():
            assert process.poll() is None, said.seek(0) or said.read()
            time.sleep(0.02)
        process.kill()
        process.wait()


def test_a_recipe_ends_the_same_however_it_is_interrupted(
    made: Path,
    whole: tuple[Path, list[Event]],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    parted = tmp_path / "parted"
    line = ["recipe", str(parted), str(made), "--device", "cpu"]
    killed_at(parted / "branch-2" / "checkpoints" / "000050.safetensors", line)
    assert not (parted / "branch-2" / DONE).exists()
    killed_at(parted / "lessons" / "pairs.tsv.parts" / "en-zh-00000020.tsv", line)
    main([*line, "--until", "lessons"])
    assert not (parted / "student").exists()
    main(line)
    told = capfd.readouterr().err
    assert "stage 1 of 7" not in told.rpartition("lessons: ")[2], "what is done is not done again"
    assert "stage 7 of 7: measured" in told

    both = (whole[0], parted)
    for name in ("base", "branch-1", "branch-2", "mean", "student"):
        ends = [digest_of(folder / name / "bundle") for folder in both]
        assert ends[0] == ends[1]
        assert f"{name}: {parted / name / 'bundle'}, SHA-256 {ends[0]}" in told
    assert len({digest_of(parted / n / "bundle") for n in ("base", "branch-1", "branch-2")}) == 3
    lessons = [(folder / "lessons" / "pairs.tsv").read_bytes() for folder in both]
    assert lessons[0] == lessons[1]


def test_stages_follow_from_one_another(made: Path, whole: tuple[Path, list[Event]]) -> None:
    folder, events = whole
    begun = [event.name for event in events if isinstance(event, StageBegun)]
    assert begun == [event.name for event in events if isinstance(event, StageDone)]
    assert begun == ["base", "branch-1", "branch-2", "mean", "lessons", "student", "measured"]
    steps = [event.step for event in events if isinstance(event, Look)]
    assert steps[:4] == [10, 20, 30, 40]
    assert steps[4:8] == [50, 60, 50, 60], "both branches go on from the base"
    trained = json.loads((folder / "branch-1" / "run.json").read_text())
    assert trained["start_from"] == str(folder / "base")

    one, two, mean = (
        load_bundle(folder / name / "bundle").model.state_dict()
        for name in ("branch-1", "branch-2", "mean")
    )
    for name, value in mean.items():
        assert ((one[name] + two[name]) / 2 - value).abs().max() < 1e-3  # stored in halves
    rows = read_back(folder / "lessons" / "pairs.tsv")
    learnt = json.loads((folder / "student" / "run.json").read_text())
    assert learnt["back"] == [str(folder / "lessons" / "pairs.tsv")]
    assert rows

    bundle = folder / "measured" / "bundle"
    assert digest_of(bundle) == digest_of(folder / "student" / "bundle")
    card = (bundle / "README.md").read_text(encoding="utf-8")
    assert digest_of(bundle) in card
    figures = json.loads((bundle / "figures.json").read_text())
    assert [row["method"] for row in figures["scores"]] == ["greedy", "beam"] * 2
    assert all(f"{row['bleu']:.2f}" in card for row in figures["scores"])
    assert (bundle / "means.safetensors").is_file()
    assert load(bundle, "cpu").trace("one").output.tokens, "no measurement is of other weights"
    assert json.loads((bundle / "report.json").read_text())["pairs"] == 4
    sums = subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=bundle)
    assert sums.returncode == 0
    surveys = [
        json.loads((bundle / name).read_text()) for name in ("heads.json", "corpus/heads.json")
    ]
    assert [(survey["title"], survey["sentences"]) for survey in surveys] == [
        ("Toy, dev split", 2 * len(Path(os.environ["PAIRS"], "dev.tsv").read_text().splitlines())),
        ("Headlight", 6),
    ], "a pair is read in both directions"
    assert (bundle / "corpus" / "index.json").is_file()
    assert json.loads((bundle / "certainty.json").read_text())["digest"] == digest_of(bundle)
    assert "# What its heads do" in (bundle / "REPORT.md").read_text(encoding="utf-8")

    stages = read_recipe(made, folder)
    again = list(run_recipe(stages, "cpu"))
    assert all(isinstance(event, StageDone) for event in again)
    assert [e.digest for e in again if isinstance(e, StageDone)] == [
        digest(stage.result) for stage in stages
    ]


def test_a_folder_keeps_to_its_recipe(recipe: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs"
    stages = read_recipe(recipe, folder)
    for _ in run_recipe(stages, "cpu", until="branch-1"):
        pass
    recipe.write_text(RECIPE.replace("steps = 40", "steps = 30"), encoding="utf-8")
    with pytest.raises(RefusedError, match=r"base has the result of .*40.*, not .*30"):
        list(run_recipe(read_recipe(recipe, folder), "cpu"))
    # A stage that continued from different weights is not what the recipe describes.
    shutil.rmtree(folder / "base" / "bundle")
    shutil.copytree(folder / "branch-1" / "bundle", folder / "base" / "bundle")
    with pytest.raises(RefusedError, match=r"branch-1 has the result of"):
        list(run_recipe(stages, "cpu"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[all]", "[common]", "has common; a recipe has only all, bundles and stages"),
        (
            'do = "average"',
            'do = "mean"',
            "stage mean: do must be train, average or dist",
        ),
        ('bundles = ["branch-1", "branch-2"]', "", "stage mean: average needs bundles"),
        ("beam = 2", "width = 2", "stage lessons: distil has no width; it has teachers, train, b"),
        (
            'teachers = ["mean", "branch-1"]',
            'teachers = ["mean", 3]',
            "teachers must be a list of strings, not",
        ),
        ('bundle = "student"', "", "stage measured: measure needs bundle"),
        (
            'bundle = "student"',
            'bundle = "lessons"',
            "bundle needs a bundle, but lessons mak",
        ),
        ("pairs = 20", 'pairs = "20"', "stage measured: pairs must be of type int, not '20'"),
        ('{ toy = "$PAIRS/dev.tsv" }', "{ toy = 3 }", "stage measured: tests must name files, not"),
        ("seed = 3", "speed = 3", "stage student: a training plan has no speed"),
        ("seed = 3", 'seed = "3"', "stage student: seed must be int, not '3'"),
        ("seed = 3", 'folder = "x"', "stage student: folder is not an option of a stage"),
        ('back = ["lessons"]', 'back = ["mean"]', "back needs pairs, but mean makes a bundle"),
        (
            '"branch-2"]',
            '"branch-2", "student"]',
            "stage mean: bundles: student is neither",
        ),
    ],
)
def test_what_is_no_recipe_is_named(recipe: Path, old: str, new: str, message: str) -> None:
    assert old in RECIPE
    recipe.write_text(RECIPE.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_recipe(recipe, recipe.parent / "runs")


def test_the_second_edition_is_a_recipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA", str(tmp_path))
    stages = {
        stage.name: stage for stage in read_recipe(EXPERIMENTS / "second-edition.toml", tmp_path)
    }
    teachers = [stage for name, stage in stages.items() if name.startswith("teacher")]
    assert len({stage.plan().options.seed for stage in teachers}) == len(teachers) > 2
    assert [*stages["lessons"].inputs.values()] == [stage.result for stage in teachers]
    for name, stage in stages.items():
        if stage.do == "train":
            data = stage.plan().data
            assert "gate" in str(data.unread), name
            assert {path.name for path in data.held_out} == {"test.tsv", "dev.tsv"}, name


def test_a_recipe_starts_from_the_bundle_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Path(shutil.copytree("tests/golden/bundle", tmp_path / "before"))
    monkeypatch.setenv("DATA", str(tmp_path))
    monkeypatch.setenv("HELD", str(tmp_path))
    monkeypatch.setenv("SECOND", str(before))
    recipe = tmp_path / "third-edition.toml"
    text = (EXPERIMENTS / "third-edition.toml").read_text(encoding="utf-8")
    recipe.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=rf"bundle second: {before} has the digest \w+, not 9371"):
        read_recipe(recipe, tmp_path)
    named = tomllib.loads(text)["bundles"]["second"]["digest"]
    recipe.write_text(text.replace(named, digest(before)), encoding="utf-8")
    stages = {stage.name: stage for stage in read_recipe(recipe, tmp_path)}
    assert stages["words"].plan().data.start_from == before
    assert stages["words"].asked()["inputs"] == {"second": digest(before)}
    assert stages["mean"].inputs == {"words": stages["words"].result, "second": before}


@pytest.mark.parametrize("given", ['"before"', '{ path = "before" }', '{ path = 1, digest = "a" }'])
def test_a_bundle_without_a_digest_is_refused(recipe: Path, given: str) -> None:
    recipe.write_text(f"bundles.before = {given}\n{RECIPE}", encoding="utf-8")
    with pytest.raises(ValueError, match="bundle before: it must have a path and a digest"):
        read_recipe(recipe, recipe.parent)


def test_an_unknown_stage_is_refused(recipe: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no stage end in the recipe; it has base, branch-1"):
        list(run_recipe(read_recipe(recipe, tmp_path), until="end"))
    recipe.write_text("[all]\nraw = true\n", encoding="utf-8")
    with pytest.raises(ValueError, match="has no stages"):
        read_recipe(recipe, tmp_path)
