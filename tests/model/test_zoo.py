"""The zoo: its table, training from a seed, its commands, and the shipped models."""

import json
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from safetensors.torch import load_file

from model.__main__ import main
from model.adapters.encoder_decoder.encoder_decoder_adapter import load
from model.bundle.measurements import ZOO
from model.bundle.weights import WEIGHTS, digest_of
from model.errors import InputError
from model.train.workers import spread
from model.transformer.config import ModelConfig
from model.zoo.documentation_page import PAGE, best, learned, page, read_results
from model.zoo.measuring import (
    accuracy,
    cuts,
    held_out_examples,
    looks,
    measure_seed,
    merged,
    patched,
    places_of,
    shares,
    twin_looks,
    twins_of,
    without_looks,
)
from model.zoo.registry import LANGUAGES, TASKS
from model.zoo.training import SHIPPED, Recipe, chosen, read_recipes, train_recipe
from model.zoo.who_is_it import about

RECIPES = read_recipes()
THERE = [name for name in RECIPES if (SHIPPED / name).is_dir()]


@pytest.fixture(scope="module")
def small() -> Recipe:
    """Return a recipe that is trained in a second, and learns little."""
    reverse = RECIPES["reverse"]
    options = replace(reverse.options, steps=6, cooldown=2, every=3, batch=200)
    shape = {**reverse.shape, "d_model": 16, "d_ff": 16, "encoder_layers": 1}
    return replace(reverse, examples=50, tested=(1, 3), options=options, shape=shape)


def bundle_of(recipe: Recipe, seed: int, folder: Path) -> Path:
    for _ in train_recipe(recipe, seed, folder):
        pass
    return folder / "bundle"


def test_every_task_has_a_model_of_its_name_and_every_line_a_shape() -> None:
    assert TASKS.keys() <= RECIPES.keys()
    for name, recipe in RECIPES.items():
        assert recipe.config(100).d_model == 64
        assert recipe.changed or name == recipe.task_name
        lengths = range(recipe.task.shortest, recipe.task.longest + 1)
        assert {*recipe.trained, *recipe.tested} <= {*lengths}
    assert len({json.dumps([r.task_name, dict(r.changed)]) for r in RECIPES.values()}) == len(
        RECIPES
    ), "no two lines are the same"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{ task = "dance" }', "task must be one of copy, .*, not 'dance'"),
        ('{ task = "copy", colour = 1 }', "x: unknown setting colour"),
        ('{ task = "copy", steps = "many" }', "steps must be int, not 'many'"),
        ('{ task = "copy", examples = 0 }', "x: examples must be at least 1, not 0"),
        ('{ task = "copy", trained = [4, 2] }', r"trained must be \[shortest, longest\], not 4, 2"),
        ('{ task = "copy", tested = [33] }', "x: lengths must be 1 to 32, not 33"),
    ],
)
def test_a_line_that_is_no_recipe(tmp_path: Path, line: str, told: str) -> None:
    table = "[all]\ntrained=[1, 2]\ntested=[1]\nexamples=1\n[tasks]\n[models]\n"
    (tmp_path / "zoo.toml").write_text(f"{table}x = {line}\n")
    with pytest.raises(ValueError, match=told):
        read_recipes(tmp_path / "zoo.toml")


def test_a_name_that_is_not_in_the_table() -> None:
    with pytest.raises(ValueError, match="no model dance in the zoo; known: copy, "):
        chosen(RECIPES, ["sort", "dance"])
    with pytest.raises(SystemExit, match="no model dance"):
        main(["zoo", "train", "dance"])
    assert [one.name for one in chosen(RECIPES, ["sort", "copy"])] == ["copy", "sort"]


def test_recipe_and_seed_decide_the_digest(small: Recipe, tmp_path: Path) -> None:
    tasks = [(small, seed, tmp_path / name) for seed, name in ((1, "a"), (1, "b"), (2, "c"))]
    first, again, other = (digest_of(one) for one in spread(bundle_of, tasks, 1))
    assert first == again != other


def test_a_bundle_opens_and_is_measured(small: Recipe, tmp_path: Path) -> None:
    bundle = bundle_of(small, 1, tmp_path)
    adapter = load(bundle)
    assert adapter.info.languages == LANGUAGES
    trace = adapter.trace("a b c d")
    assert trace.direction == "in-out"
    assert adapter.info.directions == ("in-out",)
    told = "direction must be in-out, the only direction of this model"
    with pytest.raises(InputError, match=told):
        adapter.trace("a b c d", direction="out-in")
    assert [token.text for token in trace.texts["source"]][1:-1] == ["a", " b", " c", " d"]
    found = measure_seed(small, 1, bundle, count=4)
    assert found["digest"] == digest_of(bundle)
    assert found["accuracy"].keys() == {"1", "3"}
    assert [step for step, _, _ in found["curve"]] == [3, 6]
    assert [len(heads) for heads in found["looks"].values()] == [4]  # one cross attention
    kept = merged({"seeds": [{"seed": 1}, {"seed": 2}]}, small, [found])["seeds"]
    assert kept == [found, {"seed": 2}]


def test_learned_step_and_best_head() -> None:
    curve = [[100, 2.0, 0.05], [200, 1.0, 0.3], [300, 0.1, 0.09], [400, 0.1, 0.02]]
    assert learned(curve) == 300
    assert learned(curve[:2]) is None
    heads = {"encoder.0.self": [0.9], "decoder.0.cross": [0.1, 0.7]}
    assert best(heads, "decoder") == (0.7, "decoder.0.cross", 1)
    assert best({}, "encoder") is None


def test_the_page_is_what_was_measured() -> None:
    """If not: `python -m model zoo measure`."""
    assert PAGE.read_text(encoding="utf-8") == page(RECIPES, read_results(RECIPES))


def test_results_of_other_weights_are_refused(small: Recipe, tmp_path: Path) -> None:
    bundle = bundle_of(small, 1, tmp_path / "run")
    bundle.rename(tmp_path / "reverse")
    results = {"seeds": [{"seed": 1, "digest": "0" * 64}]}
    (tmp_path / "reverse" / ZOO).write_text(json.dumps(results))
    with pytest.raises(ValueError, match="other weights; run zoo measure reverse again"):
        read_results(RECIPES, tmp_path)


@pytest.mark.parametrize("name", THERE)
def test_a_shipped_model_is_small_and_of_its_line(name: str) -> None:
    folder, recipe = SHIPPED / name, RECIPES[name]
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 1_000_000
    adapter = load(f"zoo/{name}")
    assert {str(one.dtype) for one in load_file(folder / WEIGHTS).values()} == {"torch.float16"}
    config = json.loads((folder / "config.json").read_text())["config"]
    assert ModelConfig.from_json(config) == recipe.config(adapter.info.vocabulary)
    assert adapter.info.directions == ("in-out",)
    entry = adapter.info.zoo
    assert entry
    assert (entry.name, entry.task, entry.changed) == (name, recipe.task_name, recipe.changed)


def test_reverse_is_right_and_an_anti_diagonal() -> None:
    recipe, adapter = RECIPES["reverse"], load("zoo/reverse")
    random = Random(7)  # different examples than those of its results
    lengths = [length for length in range(2, 13) for _ in range(10)]
    examples = [recipe.task.draw(random, length, held_out=True) for length in lengths]
    assert accuracy(adapter, examples) >= 0.99
    assert max(shares(looks(adapter, examples))["decoder.0.cross"]) > 0.9
    trace = adapter.trace("a b c d", select=["decoder.0.cross.weights"])
    assert trace.output.text == "d c b a"
    weights = trace["decoder.0.cross.weights"].value  # (4, 5, 6): <2out> a b c d <eos>
    assert [4, 3, 2, 1] in weights[:, :4].argmax(-1).tolist()


def test_results_are_of_the_shipped_weights_and_say_what_they_can() -> None:
    recipe, results = RECIPES["reverse"], read_results(RECIPES)["reverse"]
    examples = held_out_examples(recipe, 12, 20)
    assert accuracy(load("zoo/reverse"), examples) >= results["seeds"][0]["accuracy"]["12"] - 0.1


def test_who_it_is_moves_with_the_property() -> None:
    """Heads follow the property on held-out nouns, from the answer or from the property."""
    task = TASKS["who"]
    pairs = twins_of(task, 40)
    found = shares(twin_looks(load("zoo/who"), pairs))["decoder.0.cross"]
    assert max(found) > 0.75
    assert task.instead
    moved = [(task.instead(first), task.instead(second)) for first, second in pairs]
    found = shares(twin_looks(load("zoo/who-attention-dropout"), moved))["encoder.0.self"]
    assert max(found) > 0.65
    for word, noun in (("tired", "animal"), ("wide", "street")):
        text = f"The animal didn't cross the street because it was too {word}."
        assert load("zoo/who").trace(text).output.text == noun


def test_with_three_layers_a_head_goes_from_it_to_the_right_noun() -> None:
    """A head attends from "it" to the right noun in held-out sentences, as the property changes."""
    task, adapter = TASKS["who"], load("zoo/who-3-layers")
    random = Random(11)
    examples = [task.draw(random, 2, held_out=True) for _ in range(100)]
    entry = read_results(RECIPES)["who-3-layers"]["seeds"][0]
    _, place, head = best(entry["looks"], "encoder") or (0, "", 0)
    assert shares(looks(adapter, examples))[place][head] >= 0.8
    text = "The animal didn't cross the street because it was too {}."
    for word, noun in (("tired", "animal"), ("wide", "street")):
        trace = adapter.trace(text.format(word), select=[f"{place}.weights"])
        words = [token.text.strip() for token in trace.texts["source"]]
        row = trace[f"{place}.weights"].value[head, words.index("it")]
        assert words[int(row.argmax())] == noun
        assert trace.output.text == noun


def test_what_is_cut_is_not_looked_at() -> None:
    adapter = load("zoo/who")
    example = about("The animal didn't cross the street because it was too tired.", "animal")
    places = places_of(example)
    words = ["<2out>", *(token.strip() for token in example.source)]
    assert {name: [words[one] for one in at] for name, at in places.items()} == {
        "it": ["it"],
        "nouns": ["animal", "street"],
        "property": ["tired"],
    }
    changes = cuts(adapter, example, "nouns", "property")
    assert {one.at for one in changes} == {"encoder.0.self", "encoder.1.self"}
    select = ["encoder.*.weights"]
    row, key = places["nouns"], places["property"][0]
    for made in (changes, ()):
        trace = adapter.trace(example.source_text, interventions=made, select=select)
        assert len(trace.tensors) == 2
        for tensor in trace.tensors.values():
            assert (tensor.value[:, row, key] == 0).all() == bool(made)
    [(at, value)] = {(one.at, one.value) for one in cuts(adapter, example, "answer", "it")}
    assert (at, value) == ("decoder.0.cross", (0, places["it"][0]))


def test_cuts_and_patches_that_carry_the_answer() -> None:
    """Attention from nouns to the property carries it, attention from "it" does not."""
    adapter, recipe = load("zoo/who"), RECIPES["who"]
    found = without_looks(adapter, held_out_examples(recipe, 2, 40))
    assert found["nothing"] > 0.85
    assert found["it → nouns"] > 0.85
    assert found["nouns → property"] < 0.75
    turned = patched(adapter, twins_of(recipe.task, 10))
    assert {place: len(shares) for place, shares in turned.items()} == {
        "encoder.0.self": 5,
        "encoder.1.self": 5,
        "decoder.0.cross": 5,
    }
    assert turned["decoder.0.cross"][0] > 0.6
    assert turned["decoder.0.cross"][0] > turned["encoder.0.self"][1]
