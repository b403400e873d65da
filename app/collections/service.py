"""Creates, changes, shows and deletes collections."""

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NoReturn

import orjson
from fastapi import Request
from markupsafe import Markup, escape

from app.assets.languages import languages, negotiate
from app.assets.qti import QtiQuestion, package
from app.assets.templates import base_url
from app.collections import link_previews
from app.collections.schemas import (
    PRIVATE,
    CollectionCreated,
    CollectionDocument,
    CollectionReply,
    CollectionRequest,
    KeptItem,
    LinkReply,
    PreparedQuestion,
)
from app.collections.store import Collection, Collections, Refusal
from app.figures.challenge_checking import check_ask
from app.figures.links import WITHIN, Target, check_stated, parse_link, qti_question
from app.http.problems import ProblemError
from app.http.request_fields import within
from app.http.route_dependencies import Services
from app.http.tasks_and_caches import off_loop
from app.lessons import pages as lessons
from app.settings import Settings
from app.store.storage_errors import DamagedError, undamaged

TRIES = 5  # of a change of any version while others change it


@dataclass(frozen=True)
class Shown:
    """An item with what its link shows."""

    n: int  # from 1
    title: str
    note: str
    of: LinkReply
    target: Target

    def says(self, lang: str, *, live: bool) -> Markup:
        """Return what there is to say about it; `live` is whether that includes what to try."""
        if self.of.gone or self.of.kind not in ("lesson", "figure"):
            return escape(self.of.says)
        return lessons.says(self.target.lesson, self.target.figure, lang, live=live)

    def href(self, lang: str) -> str:
        """Return the link for a reader of a language."""
        path, mark, fragment = self.of.link.partition("#")
        return f"{path}{'&' if '?' in path else '?'}lang={lang}{mark}{fragment}"


async def create(
    services: Services, request: Request, body: CollectionRequest, address: str, token: str
) -> tuple[CollectionCreated, bool]:
    """Store a collection; return the reply and whether it is new.

    Raises InputError for an item that leads nowhere, and StorageError.
    """
    document = await _document(services, request, body, before={})
    return await store(services, request, document, address, token)


async def store(
    services: Services, request: Request, document: dict[str, Any], address: str, token: str
) -> tuple[CollectionCreated, bool]:
    """Store a document; return the reply and whether it is new. Raises StorageError."""
    repeatable = orjson.dumps([address, token, document]).decode() if token else None
    collection, key, new = await services[Collections].add(document, address, repeatable)
    path = request.app.url_path_for("collection_page", id=collection.id)
    url = f"{base_url(request, services)}{path}"
    days = services[Settings].keep_shares_days
    expires = None if days is None else _moment(collection.changed + timedelta(days=days))
    reply = CollectionCreated(
        id=collection.id, url=url, edit_url=f"{url}#edit={key}", edit_key=key, expires=expires
    )
    return reply, new


async def find(services: Services, collection_id: str) -> Collection:
    """Return a collection. Raises a 404 ProblemError if there is none, and DamagedError."""
    collection = await services[Collections].find(collection_id)
    if collection is None:
        refuse("unknown")
    with undamaged("collection"):
        CollectionDocument.model_validate(collection.document)
    return collection


async def change(
    services: Services,
    request: Request,
    collection_id: str,
    body: CollectionRequest,
    edit_key: str,
    version: int | None,
) -> Collection:
    """Replace a version of a collection (None: any), and return the changed one.

    Raises ProblemError for another version or key, and what `create` raises.
    """
    if refused := await services[Collections].check_key(collection_id, edit_key):
        refuse(refused)  # before its links are read
    for _ in range(TRIES if version is None else 1):
        before = await find(services, collection_id)
        document = await _document(services, request, body, before.document)
        replaced = before.version if version is None else version
        changed = await services[Collections].change(collection_id, document, edit_key, replaced)
        if changed != "changed":
            break
    if isinstance(changed, str):
        refuse(changed)
    return changed


async def delete(services: Services, collection_id: str, edit_key: str) -> None:
    """Delete a collection. Raises ProblemError if there is none, or for another key."""
    if refused := await services[Collections].delete(collection_id, edit_key):
        refuse(refused)


async def qti(services: Services, request: Request, collection_id: str, edit_key: str) -> bytes:
    """Return the prepared questions as a QTI package in the reader's language, given the key.

    Raises ProblemError if there is no such collection, or for another key.
    """
    collection = await find(services, collection_id)
    await owns(services, collection_id, edit_key)
    lang, document = negotiate(request, languages()), collection.document

    def make() -> bytes:
        questions = [
            _portable(PreparedQuestion.model_validate(question), lang)
            for item in document["items"]
            for question in item.get("questions", [])
        ]
        worded = [question for question in questions if question.words]  # a goal may have none
        return package(document["title"], lang, worded)

    return await off_loop(make, size=10_000 * len(document["items"]))


def _portable(question: PreparedQuestion, lang: str) -> QtiQuestion:
    about = question.ask
    return qti_question(
        question.entry,
        about,
        lang,
        right=about.cells or list(map(str, about.right or [])),
        numbers=[] if about.value is None else [about.value],
        within=WITHIN if about.within is None else about.within,
    )


async def owns(services: Services, collection_id: str, edit_key: str | None) -> bool:
    """Return whether a reader is the owner. Raises ProblemError for a key that does not match."""
    if edit_key is None:
        return False
    if refused := await services[Collections].check_key(collection_id, edit_key):
        refuse(refused)
    return True


def reply(
    services: Services, request: Request, collection: Collection, *, owner: bool = False
) -> CollectionReply:
    """Return a collection as the API sends it; its owner gets private notes and questions."""
    document = collection.document
    if not owner:
        public = ("link", "title", "note")
        items = [{name: item[name] for name in public} for item in document["items"]]
        document = {**document, "items": items}
    path = request.app.url_path_for("collection_page", id=collection.id)
    return CollectionReply(
        id=collection.id,
        url=base_url(request, services) + path,
        version=collection.version,
        created=_moment(collection.created),
        changed=_moment(collection.changed),
        listed=collection.languages,
        **document,
    )


async def shown(
    services: Services, request: Request, collection: Collection, lang: str
) -> Sequence[Shown]:
    """Return the items with what their links show, in a language."""
    home = base_url(request, services)
    items = []
    for n, item in enumerate(collection.document["items"], 1):
        target = parse_link(item["link"], home)
        if target is None:
            raise DamagedError("collection")
        of = await link_previews.describe(services, target, lang)
        items.append(Shown(n, item["title"] or of.title, item["note"], of, target))
    return items


def version_of(header: str) -> int | None:
    """Return the version that an `If-Match` names; None for `*`. Raises a 412 ProblemError."""
    text = header.strip()
    if text == "*":
        return None
    tag = text.removeprefix("W/").strip('"')
    if not tag.isdecimal() or len(tag) > 9:
        refuse("changed")
    return int(tag)


async def _document(
    services: Services,
    request: Request,
    body: CollectionRequest,
    before: Mapping[str, Any],
) -> dict[str, Any]:
    """Return what is stored instead of the document `before`.

    Links that a collection already has may lead nowhere by now, and the model of its challenges may
    be gone. A private field that an item does
    not state stays as it was of the item with the same link; of several, in their order.
    """
    by_link: dict[str, deque[Mapping[str, Any]]] = defaultdict(deque)
    for item_before in before.get("items", ()):
        by_link[item_before["link"]].append(item_before)
    existing = [
        question for item in before.get("items", ()) for question in item.get("questions", ())
    ]
    items = []
    for n, item in enumerate(body.items):
        link = item.address
        if link not in by_link:
            with within(f"items[{n}]"):
                link = (await link_previews.fitting(services, request, link, "link")).link
        if item.questions:
            with within(f"items[{n}].questions"):
                _check_questions(services, item.questions, existing)
        same_link = by_link.get(link)
        unchanged = same_link.popleft() if same_link else {}
        private = {name: unchanged[name] for name in PRIVATE if name in unchanged} | item.stated
        stated = {name: value for name, value in private.items() if value}
        items.append(
            KeptItem(link=link, title=item.title, note=item.note, **stated).model_dump(mode="json")
        )
    return {"title": body.title, "note": body.note, "items": items} | {
        name: before[name] for name in ("origin",) if name in before
    }


def _check_questions(
    services: Services, questions: Sequence[PreparedQuestion], existing: Sequence[Any]
) -> None:
    """Raise InputError for a question that cannot be asked; a goal that is not new stays."""
    for question in questions:
        about = question.ask.model_dump(exclude_none=True)
        check_stated(question.entry, about)
        if question.entry == "work" and question.model_dump(mode="json") not in existing:
            check_ask(services, about)


def refuse(why: Refusal) -> NoReturn:
    """Raise the ProblemError of a refusal."""
    if why == "unknown":
        raise ProblemError(
            404, "unknown-collection", "there is no collection with this id", field="id"
        )
    if why == "wrong key":
        detail = "Edit-Key is not the edit key of this collection"
        raise ProblemError(403, "wrong-edit-key", detail, field="Edit-Key")
    detail = "the collection is no longer the version that If-Match names; read it again"
    raise ProblemError(412, "collection-changed", detail, field="If-Match")


def _moment(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
