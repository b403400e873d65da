"""The answer of a model to a question, in the words of its `expects`."""

import json
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.figures.links import Link
from app.figures.sentence_figures import JSON_KEYS, NUMBERS, ShareState, running
from app.lab import by_hand
from app.lessons.markdown_extensions import PredictBlock
from model import Intervention, Request, Trace
from model.lab.compute import compute
from model.trace.attentions import AttentionInfo
from model.trace.tensor_tap import HEAD
from tests.lessons.conftest import Models

SELECT = ["source.embedding", "*.weights", "*.mask", "decoder.probabilities", "decoder.candidates"]
OUTPUTS = {True: "same", False: "changes"}


def looking(link: Link) -> ShareState:
    """Return a link's state; raises where the page would ignore what cannot be read."""
    fields: dict[str, Any] = dict(link.state)
    for key in JSON_KEYS:
        if key in fields:
            fields[key] = json.loads(fields[key])
    for key in NUMBERS:
        if key in fields:
            fields[key] = int(fields[key])
    return ShareState.model_validate(fields)


def answer(block: PredictBlock, models: Models) -> str:
    """Return a token, the number of a head, numbers, or whether the output is the same."""
    if block.link.page == "lab":
        return " ".join(_number(one) for one in by_hand_row(block))
    state, trace = looking(block.link), seen(block.link, models)
    row = state.query or 0
    match block.kind:
        case "off" | "change":
            return OUTPUTS[_kept(block, models)]
        case "next":
            best = int(trace.tensors["decoder.probabilities"].value[row].argmax())
            one = trace.tensors["decoder.candidates"].value[row][best]
            return trace.pieces[int(one)].text.strip()
        case "head":
            return str(1 + int(np.argmax(weights(block.link, models)[:, row, state.key or 0])))
        case "number":
            return _number(weights(block.link, models)[state.head or 0, row, state.key or 0])
        case "nearest":
            best = int(np.argmax(likenesses(block.link, models)))
            return trace.texts["source"][best].text.strip()
        case "unit":
            best = int(np.argmax(units(block.link, models)))
            return trace.texts["source"][best].text.strip()
    text = _attention(state, models).key
    best = int(np.argmax(weights(block.link, models)[state.head or 0, row]))
    return trace.texts[text][best].text.strip()


def by_hand_row(block: PredictBlock) -> list[float]:
    """Return the row of a step of the lab that a question is about, or its cell."""
    step = compute(by_hand(block.link)).steps[block.fields.get("step", "weights")]
    rows = step.value[0] if step.dims[0] == HEAD else step.value
    row = [float(one) for one in np.asarray(rows)[int(block.fields.get("row", 0))]]
    return row if block.kind == "row" else [row[int(block.fields["column"])]]


def weights(link: Link, models: Models) -> NDArray[np.float64]:
    """Return the weights at a link's place (head, query, key)."""
    place = _attention(looking(link), models).place
    return np.asarray(seen(link, models).tensors[f"{place}.weights"].value, dtype=float)


def likenesses(link: Link, models: Models) -> NDArray[np.float64]:
    """Return the cosine of the embedding of a link's token with those of all words; -1: itself."""
    trace, row = seen(link, models), looking(link).query or 0
    rows = np.asarray(trace["source.embedding"].value, dtype=np.float64)
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    tokens = trace.texts["source"]
    other = [not token.special and token.id != tokens[row].id for token in tokens]
    return np.where(other, unit @ unit[row], -1)


def units(link: Link, models: Models) -> NDArray[np.float64]:
    """Return the hidden unit of a link at all words of the encoder; at other tokens −1."""
    state = looking(link)
    place = f"encoder.{state.layer}.ffn.hidden"
    trace = _traced(models, state.model, running(state).request([place], []))
    values = np.asarray(trace[place].value, dtype=float)[:, int(str(link.state["unit"]))]
    return np.where([not token.special for token in trace.texts["source"]], values, -1)


def written(link: Link, models: Models) -> tuple[str, str]:
    """Return the token that the row of a link has read, and the one that it writes, if any."""
    state, trace = looking(link), seen(link, models)
    one, row = _attention(state, models), state.query or 0
    reads = trace.texts[one.query][row].text.strip()
    return reads, trace.output.tokens[row].text.strip() if one.query == "target" else ""


def seen(link: Link, models: Models) -> Trace:
    state = looking(link)
    return _traced(models, state.model, running(state).request(SELECT, []))


@cache
def _traced(models: Models, name: str | None, request: Request) -> Trace:
    """Run a request once: both languages of a lesson, and several tests, ask the same."""
    return models(name).run([request])[0]


def outputs(block: PredictBlock, models: Models) -> tuple[str, str]:
    """Return what the model writes as trained and with the change that a question is about."""
    state = looking(block.link)
    model = models(state.model)
    plain = running(state.model_copy(update={"interventions": []})).request([], [])
    changed = running(state).request([], [])
    before, after = (trace.output.text for trace in model.run([plain, changed]))
    if block.kind == "off":
        head = Intervention(at=_attention(state, models).place, head=state.head or 0, do="zero")
        after = model.trace(state.source, interventions=[head], select=[]).output.text
    return before, after


def _kept(block: PredictBlock, models: Models) -> bool:
    before, after = outputs(block, models)
    return before == after


def _attention(state: ShareState, models: Models) -> AttentionInfo:
    table = models(state.model).info.attentions
    return [one for one in table if one.block == state.block][state.layer or 0]


def _number(value: float) -> str:
    return f"{round(value, 2) + 0.0:g}"  # without a minus at 0
