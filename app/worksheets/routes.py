"""The page of a worksheet: tasks from a link to a figure, the lab, a lesson or a collection."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse
from numpy.typing import NDArray

from app.assets.languages import languages, negotiate
from app.assets.qr import MAX_QR_BYTES, qr_code
from app.assets.templates import base_url, render
from app.collections import link_previews
from app.collections import service as collections
from app.collections.service import Shown
from app.engine.jobs import Encoding
from app.engine.model_listing import Listing
from app.engine.reply_formats import Reply
from app.figures import preview_picture
from app.figures.figure_kinds import KINDS
from app.figures.heatmap import Heatmap
from app.figures.links import MAX_LINK, Link, Target
from app.figures.sentence_figures import OneTextShareState, over, state_of
from app.http.file_formats import SAFETENSORS
from app.http.problems import ProblemError
from app.http.route_dependencies import Opened, Services
from app.http.tasks_and_caches import LARGE, off_loop
from app.lab import names, request_of
from app.lessons import pages as lessons
from app.lessons.markdown import Predict, unlinked
from app.settings import Settings
from app.shares import service as sharing
from app.shares.service import thaw
from app.shares.store import Shares
from app.traces.replies import ModelReply
from app.traces.schemas import OneTextRunRequest, RunRequest
from app.traces.service import run
from app.worksheets.tasks import (
    LINES,
    Cell,
    Table,
    Task,
    decimal,
    hundredths,
    matrix_task,
    plain_table,
    softmax_table,
    switched,
)
from model.errors import InputError
from model.lab.compute import compute
from model.trace.tensor_names import present
from model.trace.tensor_tap import HEAD, KEY, QUERY

COLLECTION = re.compile(r"/c/([a-z0-9]+)/?$")

INPUTS = (("x", "X"), ("w_q", "W_Q"), ("w_k", "W_K"), ("w_v", "W_V"), ("w_o", "W_O"))

STEPS = (
    ("q", "Q = X · W_Q"),
    ("k", "K = X · W_K"),
    ("v", "V = X · W_V"),
    ("scores", "S"),
    ("weights", "A = softmax(S)"),
    ("mix", "A · V"),
)

SCORES = {"scaled": "S = Q · Kᵀ / √d", "dot": "S = Q · Kᵀ"}

SPECIAL = re.compile(r"<.+>")  # tokens that are no choice for a class

SELECT = ("*.weights", "*.mask")


@dataclass(frozen=True)
class Sheet:
    """A worksheet. Without a link it only says how to make one."""

    link: str = ""
    title: str = ""
    tasks: Sequence[Task] = ()
    url: str = ""  # where the figure can be tried
    code: str = ""  # its QR code, as SVG
    seed: int = 0
    sentence: str = ""  # the class's own, in place of the link's
    matrix: bool = False  # whether another sentence can take its place
    too_large: bool = False  # a matrix was left out
    heads: int = 0  # of an example by hand, one of which is computed; 0: there is no choice
    head: int = 0

    @property
    def blanks(self) -> bool:
        """Whether other cells could be blank."""
        return any(task.kind == "matrix" for task in self.tasks)


async def sheet_of(
    services: Services, request: Request, link: str, seed: int, sentence: str, head: int = 0
) -> Sheet:
    """Return the worksheet of a link; by hand, of one of its heads.

    Raises InputError and ProblemError for a link to nothing.
    """
    if not link.strip():
        return Sheet()
    lang, home = negotiate(request, languages()), base_url(request, services)
    if match := COLLECTION.search(link.split("?")[0].split("#")[0]):
        collection = await collections.find(services, match[1])
        tasks = []
        for item in await collections.shown(services, request, collection, lang):
            tasks += _titled(await _item(services, item, seed + item.n, lang), item.title)
        title, path, is_sentence = collection.document["title"], f"/c/{collection.id}", False
    else:
        target = await link_previews.target(services, request, link, "link")
        is_sentence = target.kind == "workspace"
        if is_sentence and sentence:
            target = _with_sentence(target, sentence)
        title, tasks = await _target(services, target, seed, lang, head)
        path = target.link
    on = switched(tasks)
    tasks = [replace(task, on=fits) for task, fits in zip(tasks, on, strict=True)]
    url = home + path
    code = qr_code(url).decode() if tasks and len(url) <= MAX_QR_BYTES else ""
    large = any(task.kind == "predict" and not task.tables for task in tasks)
    replacement = sentence if is_sentence else ""
    heads = max((task.heads for task in tasks), default=0) if len(tasks) == 1 else 0
    return Sheet(path, title, tasks, url, code, seed, replacement, is_sentence, large, heads, head)


def _with_sentence(target: Target, sentence: str) -> Target:
    state = Link("workspace", f"{target.query}&{target.fragment}".strip("&"))
    names_of_old = {"target", "forced", "query", "key"}
    fields = {name: value for name, value in state.state.items() if name not in names_of_old}
    query = over(Link("workspace", ""), {**fields, "source": sentence}).query
    return replace(target, query=query, fragment="")


def _titled(tasks: Sequence[Task], title: str) -> list[Task]:
    """Put the title of an item on its first task."""
    return [replace(task, title="" if n else title) for n, task in enumerate(tasks)]


async def _item(services: Services, item: Shown, seed: int, lang: str) -> Sequence[Task]:
    if item.of.gone:
        return []
    try:
        return (await _target(services, item.target, seed, lang))[1]
    except (InputError, ProblemError):
        return []  # a figure that cannot be run here


async def _target(
    services: Services, target: Target, seed: int, lang: str, head: int = 0
) -> tuple[str, list[Task]]:
    """Return the title and the tasks of what a link shows; by hand, of a head."""
    if target.share:
        return await _shared(services, target, seed)
    if target.kind == "lesson":
        document = lessons.find(target.lesson).document(lang)
        questions = [await _question(services, part) for part in lessons.taken(document)]
        before = ["", *(question.subject for question in questions)]
        return document.title, [
            replace(question, again=question.subject == subject)
            for question, subject in zip(questions, before, strict=False)
        ]
    if target.kind == "figure":
        figures = lessons.figures(target.lesson, lang)
        if not 1 <= target.figure <= len(figures):
            raise ProblemError(404, "not-found", "the lesson has no figure with this number")
        block = figures[target.figure - 1].block
        link = Link(block.link.page, target.shows) if target.shows else block.pictured
        title = lessons.find(target.lesson).document(lang).title
    else:
        page = "lab" if target.kind == "lab" else "workspace"
        title, link = "", Link(page, f"{target.query}&{target.fragment}".strip("&"))
    if link.page == "lab":
        return title, [await off_loop(_by_hand, link, seed, head, size=LARGE)]
    if link.page != "workspace":
        detail = "link leads to a figure that has no worksheet: only attention has"
        raise InputError("not-a-link", "link", detail)
    return title, await _sentence(services, link, seed)


async def _sentence(services: Services, link: Link, seed: int) -> list[Task]:
    """Return the tasks of a sentence in the workspace.

    Scores are recorded only where the head is that the worksheet has, which may be known only from
    the weights.
    """
    state = state_of(services, link)
    request = OneTextRunRequest if isinstance(state, OneTextShareState) else RunRequest
    fields = state.model_dump(exclude_unset=True, include=set(request.model_fields))
    name = services[Listing].pick(state.model)
    encoding = Encoding(SAFETENSORS, services[Settings].max_values)
    model = ModelReply.model_validate(services[Listing].describe(name)).model_dump()

    async def recorded(*names: str) -> Reply:
        select = present(list(names), services[Listing].names(name))
        traced = await run(services, request.model_validate(fields), select, encoding)
        return Reply.parse(traced.content)

    reply = await recorded(*SELECT)
    place = preview_picture.look(state.model_dump(), model, reply).attention.place
    scores = (await recorded(f"{place}.scores")).arrays
    reply = replace(reply, arrays={**reply.arrays, **scores})
    return _of_trace(state.model_dump(), model, reply, seed)


def _of_trace(
    state: Mapping[str, Any], model: Mapping[str, Any], reply: Reply, seed: int
) -> list[Task]:
    """Return the tasks of a head: its matrix, one row from its scores, and a guess."""
    selection = preview_picture.look(state, model, reply)
    heatmap = preview_picture.heatmap(selection, reply.document)
    rows = len(heatmap.rows)
    chosen = state.get("query")
    row = _widest(heatmap) if chosen is None else min(int(chosen), rows - 1)
    written = reply.document["output"]["text"] if "output" in reply.document else ""
    attention = selection.attention
    about = Task(
        "matrix",
        preview_picture.sentence(state),
        written,
        (attention.block, attention.layer + 1, selection.head + 1),
        row=heatmap.rows[row],
    )
    scores = reply.arrays.get(f"{attention.place}.scores")
    mask = np.broadcast_to(heatmap.mask, heatmap.weights.shape)[row]
    by_hand = scores is not None and selection.pool not in preview_picture.SAYS and mask.sum() > 1
    tasks = []
    table = matrix_task(heatmap, seed, row if by_hand else None)
    if table is not None:
        tasks.append(replace(about, tables=[table], height=48 + 8 * rows))
    if by_hand and scores is not None:
        work = softmax_table(scores[selection.head][row], mask, heatmap.columns)
        tasks.append(replace(about, kind="softmax", tables=[work], height=40 + 9 * len(work.rows)))
    printed = hundredths(np.where(mask, heatmap.weights[row], 0))
    best = int(np.argmax(printed))
    answer = f"{heatmap.columns[best]} ({decimal(printed[best])})"
    tables = [table] if table is not None else []
    tasks.append(
        replace(about, kind="predict", tables=tables, answer=answer, lines=LINES, height=65)
    )
    return tasks


def _widest(heatmap: Heatmap) -> int:
    """Return the row with the most even weights: the one with the most to compute."""
    shares = np.where(heatmap.mask, heatmap.weights, 0)
    entropies = -(shares * np.log(np.maximum(shares, 1e-9))).sum(-1)
    return int(np.argmax(entropies))


async def _shared(services: Services, target: Target, seed: int) -> tuple[str, list[Task]]:
    """Return the tasks of a share, from its stored numbers, and its author's question."""
    share = await sharing.find(services, target.share)
    _, about = await services[Shares].brief(target.share) or ({}, {})
    title = about.get("title", "")
    tasks = []
    if "question" in about:
        tasks.append(
            Task(
                "write",
                question=about["question"],
                why=about.get("answer", ""),
                lines=LINES + 1,
                height=45,
            )
        )
    if "lab" in share.state:
        link = Link("lab", str(share.state["link"]))
        return title, [*tasks, await off_loop(_by_hand, link, seed, size=LARGE)]
    reply = await off_loop(thaw, share.trace, size=LARGE)
    return title, [*tasks, *_of_trace(share.state, share.model, reply, seed)]


async def _question(services: Services, part: Predict) -> Task:
    """Return a question of a lesson: with boxes to tick, a row to fill in, or lines."""
    block = part.block
    task = Task(
        "write",
        block.link.state.get("source", ""),
        question=unlinked(part.question),
        answer=block.expects or block.fields.get("value", ""),
        why=unlinked(part.why),
        lines=LINES,
        height=42,
    )
    if block.link.page == "lab" and "show" not in block.link.state:
        work = await off_loop(_by_hand, block.link, 0, size=LARGE)
        symbols = [symbol for _, symbol in INPUTS]
        inputs = [table for table in work.tables if table.name in symbols]
        return replace(task, tables=inputs, height=70)
    if block.kind not in ("looks", "row"):
        return task
    try:
        weights = await KINDS["workspace"].weights(services, block.link)  # type: ignore[misc]
    except (InputError, ProblemError):
        return task
    row = min(int(block.link.state.get("query", "0")), len(weights.rows) - 1)
    mask = np.broadcast_to(weights.mask, weights.weights.shape)[row]
    columns = [label for label, visible in zip(weights.columns, mask, strict=True) if visible]
    if block.kind == "looks":
        choices = [label for label in columns if not SPECIAL.fullmatch(label)]
        height = 32 + 8 * -(-len(choices) // 6)
        return replace(task, kind="choose", choices=choices, lines=0, height=height)
    printed = hundredths(weights.weights[row][mask])
    table = Table([""], columns, [[Cell(decimal(value), blank=True) for value in printed]])
    return replace(task, kind="row", row=weights.rows[row], tables=[table], lines=0, height=50)


def _by_hand(link: Link, seed: int, head: int = 0) -> Task:
    """Return the matrices of the lab with the steps of one row of a head to be computed."""
    request = request_of(link)
    steps = compute(request).steps
    column = link.state.get("convention") == "column"
    tokens = {
        side: names(link.query, side, count)
        for side, count in zip(steps["weights"].dims, steps["weights"].value.shape, strict=True)
        if side != HEAD
    }
    row = seed % len(tokens[QUERY]) if seed else len(tokens[QUERY]) - 1
    tables = []
    for field, name in INPUTS:
        if (matrix := getattr(request, field)) is None:
            continue
        values = np.array(matrix, float)
        labels = tokens[QUERY] if field == "x" and not column else [""] * len(values)
        tables.append(plain_table(name, values, labels))
    for name, formula in STEPS:
        if name not in steps:
            continue
        values, dims = _of_head(np.asarray(steps[name].value), steps[name].dims, head)
        if QUERY not in dims[:1] and name in ("scores", "weights", "mix", "q"):
            values, dims = values.T, dims[::-1]
        side = dims[0] if dims[0] in (QUERY, KEY) else KEY
        labels = tokens.get(side, [""] * len(values))
        blank = row if side == QUERY else None
        columns = tokens[KEY] if KEY in dims[1:] else ()
        label = SCORES.get(request.scoring, formula) if name == "scores" else formula
        tables.append(plain_table(label, values, labels, blank, columns))
    height = 75 + 14 * len(tables)
    heads = request.heads if request.heads > 1 else 0
    task = Task("lab", row=tokens[QUERY][row], tables=tables, lines=LINES + 1, height=height)
    return replace(task, heads=heads, head=min(head, heads - 1) + 1 if heads else 0)


def _of_head(
    values: NDArray[np.float64], dims: Sequence[str], head: int
) -> tuple[NDArray[np.float64], Sequence[str]]:
    """Return the values of a head, or of the last one if there are fewer."""
    if dims and dims[0] == HEAD:
        return values[min(head, len(values) - 1)], dims[1:]
    return values, dims


router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

MAX_HEAD = 63  # from 0

MAX_SENTENCE = 200  # characters: more words than a matrix on paper has columns


@router.get("/worksheet")
async def worksheet_page(
    request: Request,
    services: Opened,
    link: Annotated[str, Query(max_length=MAX_LINK)] = "",
    seed: Annotated[int, Query(ge=0, le=9999)] = 0,
    sentence: Annotated[str, Query(max_length=MAX_SENTENCE)] = "",
    head: Annotated[int, Query(ge=0, le=MAX_HEAD)] = 0,
) -> HTMLResponse:
    """Show what a link leads to as tasks on paper, with an answer key.

    Of a link that leads to nothing, the page keeps what was asked, to be corrected.
    """
    problem, status = None, 200
    try:
        parameters = link, seed, sentence.strip(), head
        sheet = await sheet_of(services, request, *parameters)
    except (InputError, ProblemError) as error:
        sheet, problem = Sheet(link=link, sentence=sentence), error.kind
        status = 422 if isinstance(error, InputError) else error.status_code
        if status not in (404, 410, 422):
            raise
    variables = {"sheet": sheet}
    return render(
        request, services, "worksheet.html", problem=problem, status=status, more=variables
    )
