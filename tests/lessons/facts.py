"""What lessons quote from models, by the names in their text: lessons/numbers.toml."""

import json
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import exp, log
from statistics import fmean
from typing import Any

import numpy as np

from app.settings import ZOO
from model import Decode, Intervention
from model.bundle.measurements import ZOO as RESULTS
from model.bundle.measurements import load_learning
from model.bundle.weights import CHECKPOINTS, CONFIG
from tests.lessons.conftest import Models
from tests.lessons.counting import multiplications
from tests.lessons.units import DENIALS, NUMBERS, largest, sentences, unit_answering_to

Facts = Mapping[str, str]

BOOK = "She bought a blue book yesterday."
ANIMAL = "The animal did not cross the street because it was too tired."
TIRED = "The animal didn't cross the street because it was too tired."
BUS = "He goes to school by bus every day."
SISTER = "I like cats but my sister likes dogs."
TEA = "My sister drinks tea on Monday, and I buy coffee."
BRIDGE = "The old bridge is beautiful, but it is not safe."
CHANCES = ("decoder.probabilities", "decoder.candidates")
UNSUPERVISED, SUPERVISED = 6, 1  # heads of the first cross-attention that look at the same words
COMPARED = 300  # steps of training after which two models of the zoo are compared
END = "，因为它太累了。"  # the half of a translation that the model wrote first


def two(value: float) -> str:
    return f"{value:.2f}"


def results(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ZOO / name / RESULTS).read_text(encoding="utf-8"))
    return found


def right(name: str, length: int) -> str:
    """Return the percentage of right answers of a model of the zoo, mean over its seeds."""
    return str(
        round(100 * fmean([seed["accuracy"][str(length)] for seed in results(name)["seeds"]]))
    )


def translation(models: Models, *changes: Intervention, source: str = BOOK) -> str:
    text: str = models(None).trace(source, interventions=changes, select=[]).output.text
    return text


def off(place: str, head: int) -> Intervention:
    return Intervention(at=place, head=head, do="zero")


def _cells(texts: Iterable[str]) -> str:
    """Return texts as the cells of a row of a table in Markdown."""
    return " | ".join(text.replace("-", "−") for text in texts)


def text_to_vectors(models: Models) -> Facts:
    info = models(None).info

    def cosine(source: str, first: str, second: str) -> str:
        trace = models(None).trace(source, select=["source.embedding"])
        words = [token.text.strip() for token in trace.texts["source"]]
        rows = np.asarray(trace["source.embedding"].value, dtype=float)
        a, b = (rows[words.index(word)] for word in (first, second))
        return two(float(a @ b / np.sqrt((a @ a) * (b @ b))))

    cat = models(None).trace("The unhappy cat is tired.", select=[]).texts["source"]
    dogs = models(None).trace(
        "The old dog and the young dog are tired.",
        select=["source.embedding", "source.position", "source.input"],
    )
    sums = np.asarray(dogs["source.input"].value)
    first, second = (i for i, token in enumerate(dogs.texts["source"]) if token.text == " dog")
    rows, places = (np.asarray(dogs[f"source.{part}"].value) for part in ("embedding", "position"))
    assert np.array_equal(rows[first], rows[second])
    assert np.allclose(sums, rows + places, atol=1e-5)
    tea = models(None).trace(TEA, select=["inside.nearest.*"])
    words = [token.text.strip() for token in tea.texts["source"]]

    def near(word: str) -> str:
        row = words.index(word)
        ids, cosines = (tea[f"inside.nearest.{name}"].value for name in ("candidates", "cosines"))
        pairs = zip(ids[row, :3].tolist(), cosines[row, :3].tolist(), strict=True)
        return " · ".join(f"{tea.pieces[id_].text.strip()} {two(value)}" for id_, value in pairs)

    return {
        "vocabulary": f"{info.vocabulary:,}",
        "count": str(len(cat)),
        "cat": next(str(token.id) for token in cat if token.text == " cat"),
        "features": str(info.d_model),
        "tokens": _cells(token.text.strip() for token in cat),
        "ids": _cells(str(token.id) for token in cat),
        "near_drinks": near("drinks"),
        "near_tea": near("tea"),
        "near_monday": near("Monday"),
        "dog": _cells(map(two, rows[first, :6])),
        "first": _cells(map(two, places[first, :6])),
        "second": _cells(map(two, places[second, :6])),
        "first_sum": _cells(map(two, sums[first, :6])),
        "second_sum": _cells(map(two, sums[second, :6])),
        "tea_coffee": cosine(TEA, "tea", "coffee"),
        "good_bad": cosine("He is a good boy, and she is a bad girl.", "good", "bad"),
    }


def supervised(models: Models) -> int:
    """Return the step from which on heads were supervised: the first of two, like the second."""
    writing, reading = models(None).info.taught
    assert (writing.layer, writing.head, writing.rows) == (2, 0, "writes")
    assert (reading.layer, reading.head, reading.rows) == (0, 1, "reads")
    assert writing.since == reading.since
    return writing.since or 0


def what_a_head_does(models: Models) -> Facts:
    place = "decoder.2.cross.weights"
    trace = models(None).trace(BOOK, select=[place])
    words = [token.text.strip() for token in trace.texts["source"]]
    lines = (np.asarray(trace[place].value)[0] >= 0.1).sum(axis=0)  # of the first head, as drawn
    assert (lines[words.index("book")], lines[words.index("<2zh>")]) == (4, 0)
    written = [token.text.strip() for token in trace.output.tokens]
    assert words[int(np.asarray(trace[place].value)[0, written.index("色")].argmax())] == "book"
    return {
        "output": trace.output.text,
        "since": f"{supervised(models):,}",
    }


def far_words(models: Models) -> Facts:
    place = "encoder.1.self.weights"
    trace = models("zoo-who-3-layers").trace(TIRED, select=[place])
    words = [token.text.strip() for token in trace.texts["source"]]
    looks = np.asarray(trace[place].value)[3].argmax(axis=-1)
    return {"rows": str(int((looks == words.index("animal")).sum())), "tokens": str(len(words))}


def scores(models: Models) -> Facts:
    names = ("sort", "sort-unscaled", "sort-additive")
    return {name.replace("-", "_"): right(name, 12) for name in names}


def from_cat_to_black(models: Models) -> str:
    """Return the weights of all heads of the encoder's last layer, as cells."""
    trace = models(None).trace("She has a black cat.", select=["encoder.2.self.weights"])
    words = [token.text.strip() for token in trace.texts["source"]]
    weights = trace["encoder.2.self.weights"].value
    return _cells(map(two, weights[:, words.index("cat"), words.index("black")].tolist()))


def ten_minutes(models: Models) -> Facts:
    place = off("decoder.0.cross", 6)
    return {
        "black_heads": from_cat_to_black(models),
        "animal": translation(models, source=ANIMAL),
        "without_place": translation(models, place, source=ANIMAL),
    }


def many_heads(models: Models) -> Facts:
    info = models(None).info
    without = {
        (one.place, head): translation(models, off(one.place, head))
        for one in info.attentions
        for head in range(one.heads)
    }
    before = translation(models)
    changed = [text for text in without.values() if text != before]
    heads = info.heads["encoder"]
    animal, second, place = (
        translation(models, source=ANIMAL),
        models("en-zh-4-heads"),
        off("decoder.0.cross", 6),
    )
    assert second.trace(ANIMAL, select=[]).output.text == animal

    def chances(*heads: int) -> list[float]:
        """Return the log-probability of each token of the right translation without the heads."""
        changes = [off("decoder.0.cross", head) for head in heads]
        output = second.trace(ANIMAL, target=animal, interventions=changes, select=[]).output
        return [float(chance) for chance in output.logprobs]

    def times(*heads: int) -> str:
        """Return by how much less likely the right translation is without the heads."""
        ratio = exp(sum(chances()) - sum(chances(*heads)))
        return f"{ratio:.1f}" if ratio < 10 else f"{float(f'{ratio:.2g}'):,.0f}"

    it = animal.index("它")
    blue = models(None).trace(BOOK, select=["encoder.2.self.weights"]).tensors
    return {
        "black_heads": from_cat_to_black(models),
        "features": str(info.d_model),
        "heads": str(heads),
        "channels": str(info.d_model // heads),
        "all_heads": str(len(without)),
        "that_change": str(len(changed)),
        "animal": animal,
        "without_place": translation(models, place, source=ANIMAL),
        "blue_8": two(float(blue["encoder.2.self.weights"].value[7][5, 4])),
        "it": two(exp(chances()[it])),
        "it_without": two(exp(chances(6)[it])),
        "without_2": times(1),
        "without_7": times(6),
        "without_both": times(1, 6),
        "without_place_4": second.trace(ANIMAL, interventions=[place], select=[]).output.text,
        "sort_1": right("sort-1-head", 12),
        "sort_2": right("sort-2-heads", 12),
        "sort_4": right("sort", 12),
        "sort_8": right("sort-8-heads", 12),
    }


def order(models: Models) -> Facts:
    kinds = {
        "sinusoidal": "reverse",
        "learned": "reverse-learned",
        "relative": "reverse-relative",
        "rotary": "reverse-rotary",
        "none": "reverse-none",
    }
    father, mother = "My father helps my mother.", "My mother helps my father."
    without = Intervention(at="source.position", do="drop")
    heaps = {translation(models, without, source=one) for one in (father, mother)}
    assert len(heaps) == 1  # without positions both are the same words
    texts = {
        "father": translation(models, source=father),
        "father_without": translation(models, without, source=father),
        "mother": translation(models, source=mother),
        "mother_without": translation(models, without, source=mother),
    }
    seeds = {
        f"{kind}_seeds": " / ".join(
            f"{100 * seed['accuracy']['13']:.0f}" for seed in results(kinds[kind])["seeds"]
        )
        for kind in ("sinusoidal", "rotary")
    }
    return (
        texts
        | seeds
        | {
            f"{kind}_{length}": right(name, length)
            for kind, name in kinds.items()
            for length in (2, 12, 13, 14)
        }
    )


def masks(models: Models) -> Facts:
    tokens, length = len(models(None).trace("He sleeps.", select=[]).texts["source"]), 10
    mask = models(None).trace(BOOK, select=["decoder.0.self.mask"])["decoder.0.self.mask"].value
    read = len(mask)
    return {
        "full": right("induction", 12),
        "window": right("induction-window", 12),
        "sleeps": str(tokens),
        "to_padding": f"{(length - tokens) / length:.1f}",
        "read": str(read),
        "next": str(read + 1),
        "open": str(int(mask.sum())),
    }


def encoder_decoder(models: Models) -> Facts:
    info = models(None).info
    cut = [
        Intervention(at=f"decoder.{layer}.cross", do="cut", value=(10, 5))
        for layer in range(info.layers["decoder"])
    ]
    whole = models(None).trace(BOOK, select=[]).output
    assert whole.tokens[10].text == "书"
    masked = models(None).trace(BOOK, select=["decoder.1.self.mask"])["decoder.1.self.mask"].value
    return {
        "output": whole.text,
        "layers": str(info.layers["decoder"]),
        "heads": str(info.heads["encoder"]),
        "all_heads": str(sum(one.heads for one in info.attentions)),
        "attentions": str(len(info.attentions)),
        "steps": str(len(whole.tokens)),
        "open": str(int(masked[5].sum())),
        "without_book": translation(models, *cut),
    }


KNOW = "I know."
DENIED = "I do not know."
UNITS = "encoder.2.ffn.hidden"
STRONG = 15.0  # what a unit is set to


def block(models: Models) -> Facts:
    model = models(None)
    config = json.loads((CHECKPOINTS / "en-zh" / CONFIG).read_text(encoding="utf-8"))["config"]
    d, hidden = config["d_model"], config["d_ff"]
    ranks = np.asarray(
        model.trace(BOOK, select=["inside.lens.*"]).tensors["inside.lens.rank"].value
    )
    denial, number = (unit_answering_to(model, UNITS, words) for words in (DENIALS, NUMBERS))
    change = partial(Intervention, UNITS, units=(denial.index,))

    def in_sentence(sentence: str) -> str:
        token, value, other = largest(model, UNITS, denial.index, sentence)
        return _cells((token if value else "–", two(value), two(other)))

    bridge = model.trace(BRIDGE, select=[UNITS])
    at_bridge = np.asarray(bridge[UNITS].value)[:, denial.index]
    return {
        "features": str(d),
        "hidden": str(hidden),
        "network": f"{2 * d * hidden:,}",
        "attention": f"{4 * d * d:,}",
        "output": translation(models),
        "without_attention": translation(models, Intervention("encoder.2.self.output", "zero")),
        "without_residual": translation(models, Intervention("encoder.2.self.residual", "drop")),
        "after_norm": translation(models, Intervention("encoder.2.ffn.norm", "scale", value=10.0)),
        "not": str(denial.index),
        "not_n": str(denial.index + 1),
        "sentences": str(len(sentences())),
        "tokens": str(denial.tokens),
        "not_words": str(denial.words),
        "not_active": str(denial.active),
        "not_right": str(denial.right),
        "number_n": str(number.index + 1),
        "number_words": str(number.words),
        "number_active": str(number.active),
        "number_right": str(number.right),
        "coat": in_sentence("This is not my coat."),
        "party": in_sentence("Nobody came to the party."),
        "water": in_sentence("Please give me a glass of water."),
        "know": translation(models, source=KNOW),
        "denied": translation(models, change(do="fill", value=STRONG), source=KNOW),
        "kept": translation(models, change(do="zero"), source=DENIED),
        "bridge_tokens": _cells(token.text.strip() for token in bridge.texts["source"]),
        "bridge": _cells(map(two, at_bridge.tolist())),
        "rank": str(ranks[0, 10]),
        "rank_before": str(ranks[0, 10] - 1),
        "rank_2": str(ranks[1, 10]),
        "vocabulary": f"{model.info.vocabulary:,}",
    }


def words(models: Models) -> Facts:
    model = models(None)

    def candidates(source: str, at: int) -> dict[str, float]:
        trace = model.trace(source, select=CHANCES)
        values, ids = (trace.tensors[name].value[at] for name in CHANCES)
        names = [trace.pieces[int(one)].text for one in ids]
        return dict(zip(names, (float(one) for one in values), strict=True))

    def after(logprobs: Iterable[float]) -> float:
        """Return the probability of the tokens behind the one that was asked about."""
        return exp(sum([*logprobs][4:]))

    sister, step = candidates(SISTER, 7), candidates(BUS, 3)
    greedy, beam = (
        model.trace(BUS, decode=decode).output for decode in (Decode(), Decode("beam", beam=4))
    )
    return {
        "vocabulary": f"{model.info.vocabulary:,}",
        "above": str(sum(share > 0.2 for share in sister.values())),
        "younger": two(sister["妹"]),
        "elder": two(sister["姐"]),
        "loss": two(-log(sister["妹"])),
        "all": two(step["都"]),
        "sit": two(step["坐"]),
        "rest_greedy": f"{after(greedy.logprobs):.3f}",
        "rest_beam": f"{after(beam.logprobs):.3f}",
        "ratio": f"{exp(sum(beam.logprobs) - sum(greedy.logprobs)):.1f}",
        "greedy": greedy.text,
        "greedy_share": f"{exp(sum(greedy.logprobs)):.3f}",
        "beam": beam.text,
        "beam_share": f"{exp(sum(beam.logprobs)):.3f}",
    }


def speed_and_memory(models: Models) -> Facts:
    model = models(None)
    trace = model.trace(BOOK, select=["decoder.*.self.k", "decoder.*.self.v"])
    steps = len(trace.output.tokens)
    kept = sum(one.value.nbytes for one in trace.tensors.values())
    with_cache, without = (multiplications(model, BOOK, cached=cached) for cached in (True, False))
    return {
        "output": trace.output.text,
        "steps": str(steps),
        "passed": str(sum(range(steps + 1))),
        "cached": f"{with_cache / 1e6:.0f}",
        "uncached": f"{without / 1e6:.0f}",
        "times": f"{without / with_cache:.1f}",
        "features": str(model.info.d_model),
        "kept": f"{kept / 1000:.1f}",
        "kept_bytes": f"{kept:,}",
        "even": str(6 * model.info.d_model),
    }


def training(models: Models) -> Facts:
    plain, smoothed = (
        models(name).trace("d a c b", select=CHANCES).tensors[CHANCES[0]].value[0][0]
        for name in ("zoo-sort", "zoo-sort-smoothed")
    )
    learning = load_learning(CHECKPOINTS / "en-zh" / "learning.safetensors")
    example, weights = learning.examples[0], learning.of(0)
    final = example.texts[-1]
    early = next(i for i, text in enumerate(example.texts) if text.endswith(END))
    astray = next(i for i, text in enumerate(example.texts) if i > early and "累" not in text)
    right_texts = [final, final.replace("没有过", "没有穿过")]
    steps = [snapshot.step for snapshot in learning.snapshots]
    right_first = next(i for i, text in enumerate(example.texts) if text in right_texts)
    last_other = max(i for i, text in enumerate(example.texts) if text != final)

    def unseen_loss(name: str) -> float:
        """Return the mean loss of a model's seeds on unseen inputs after some steps of training."""
        curves = [{step: dev for step, _, dev in seed["curve"]} for seed in results(name)["seeds"]]
        return fmean(curve[COMPARED] for curve in curves)

    def sharpness(step: int, head: int) -> float:
        """Return the mean largest weight of the rows of a head of the first cross-attention."""
        rows = weights[f"{step}.decoder.0.cross.weights"][head].float() / 255
        return float(rows.max(-1).values.mean())

    reversing = models("zoo-reverse").trace("m a p s e t")
    model = models(None)
    assert {(one.layer, one.head) for one in model.info.taught} == {(0, SUPERVISED), (2, 0)}
    guided = supervised(models)
    one_step = 1 / (1 + exp(-0.5))
    walk = [0.0]  # of w: the learning rate is 10, and A is right in 7 of 10 examples
    for _ in range(4):
        walk.append(walk[-1] - 10 * (1 / (1 + exp(-walk[-1])) - 0.7))
    source = weights[f"{steps[0]}.decoder.0.cross.weights"].shape[-1]
    return {
        "asked": str(len(reversing.output.tokens)),  # the letters and the end
        "source": str(source),
        "uniform": two(1 / source),
        "at_first": two(sharpness(steps[0], UNSUPERVISED)),
        "at_last": two(sharpness(steps[-1], UNSUPERVISED)),
        "one_step": two(one_step),
        "loss_before": two(log(2)),
        "loss_after": two(-log(one_step)),
        "parameters": f"{round(model.info.parameters, -6):,}",
        "guided": f"{guided:,}",
        "all_heads": str(sum(one.heads for one in model.info.attentions)),
        "says": f"{steps[last_other + 1]:,}",
        "astray": f"{steps[astray]:,}",
        "astray_text": example.texts[astray],
        "right": f"{steps[right_first]:,}",
        "right_text": example.texts[right_first],
        "at_two": f"{1 / (1 + exp(-walk[1])):.3f}",
        "second": two(walk[2]),
        "third": two(walk[3]),
        "fourth": two(walk[4]),
        "compared": str(COMPARED),
        "warm_loss": f"{unseen_loss('sort'):.1f}",
        "cold_loss": f"{unseen_loss('sort-no-warm-up'):.1f}",
        "cold_letters": f"{exp(unseen_loss('sort-no-warm-up')):.0f}",
        "final": final,
        "early": f"{steps[early]:,}",
        "early_text": example.texts[early],
        "early_weight": two(sharpness(steps[early], UNSUPERVISED)),
        "all_steps": f"{steps[-1]:,}",
        "sort": right("sort", 12),
        "sort_no_warm_up": right("sort-no-warm-up", 12),
        "sort_smoothed": right("sort-smoothed", 12),
        "plain": two(float(plain)),
        "smoothed": f"{float(smoothed):.1f}",
    }


def explanation(models: Models) -> Facts:
    seeds = results("who-3-layers")["seeds"]
    start = Intervention(at="decoder.0.self", head=6, do="cut", value=(8, 0))  # from 蓝 to <bos>
    looks = max(max(heads) for place, heads in seeds[0]["looks"].items() if "encoder" in place)

    def right_without(edges: str) -> str:
        return _cells(f"{100 * seed['cut'][edges]:.0f}" for seed in seeds)

    return {
        "looks": f"{100 * looks:.0f}",
        "whole": right_without("nothing"),
        "cut_it": right_without("it → nouns"),
        "cut_property": right_without("nouns ↔ property"),
        "animal": translation(models, source=ANIMAL),
        "without_place": translation(models, off("decoder.0.cross", 6), source=ANIMAL),
        "without_start": translation(models, start),
    }


FACTS: Mapping[str, Callable[[Models], Facts]] = {
    "text-to-vectors": text_to_vectors,
    "far-words": far_words,
    "what-a-head-does": what_a_head_does,
    "scores": scores,
    "many-heads": many_heads,
    "order": order,
    "masks": masks,
    "encoder-decoder": encoder_decoder,
    "block": block,
    "words": words,
    "speed-and-memory": speed_and_memory,
    "training": training,
    "explanation": explanation,
    "ten-minutes": ten_minutes,
}
