"""A figure in a notebook that Python and the reader move: ``headlight.Widget(model, "Hello")``.

It is a handout in a frame, with a line to the kernel: `static/js/handout/notebook-frame.js` relays
between the page and the traits, and the kernel answers the page's requests as the server would.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import traitlets
from pydantic import ValidationError

from app.assets.static_files import STATIC
from app.figures.figure_kinds import HandoutContent
from app.handouts.handout_html import handout
from app.traces.interventions import InterventionRequest, stated
from app.traces.replies import ModelReply
from headlight.arrays import GivenAttention
from headlight.display import HEIGHT, Shown, asked, content, traced, warn_if_large
from headlight.serving import ApiReply, InProcessApi
from model.adapters.requests.request import ask
from model.adapters.requests.trace import Trace
from model.errors import InputError
from model.trace.attentions import AttentionInfo
from model.trace.interventions import Intervention

try:
    from anywidget import AnyWidget
except ImportError as error:
    raise ImportError(
        "headlight.Widget needs anywidget: pip install 'headlight[notebook]'. Without it, "
        "headlight.show draws the same figure, which Python cannot move."
    ) from error

# What the page asks for; a handout asks for nothing else.
PATHS = ("/api/trace", "/api/decode", "/api/sweep", "/api/positions", "/api/models/")


class Widget(AnyWidget):
    """The figure of `show`, which Python and the reader both move.

    The arguments are those of `show`; with `layers`, traits count among the layers kept. A click
    comes back to Python, and setting a trait moves the figure: `observe` calls a function when one
    changes.

    - `text`: the sentence. Setting it runs the model.
    - `block` ("encoder", "decoder", "cross"), `layer`, `head`: the attention that is open, from 0.
      `layer` and `head` are None until the page has chosen the most informative head.
    - `pinned`: the pinned cell, (query, key), or None.
    - `changes`: the interventions, as `Intervention`s; the API's dicts are also accepted. Setting
      them runs the model, and so does a change that is clicked.
    - `trace`: the trace of `text` with `changes`; read-only.

    Raises what `show` raises, and `TraitError` for a value that the model does not have.
    """

    _esm = (STATIC / "js/handout/notebook-frame.js").read_text(encoding="utf-8")
    _page = traitlets.Bytes().tag(sync=True)
    _nonce = traitlets.Unicode().tag(sync=True)
    _models: traitlets.List[Any] = traitlets.List().tag(sync=True)
    height = traitlets.Int(HEIGHT).tag(sync=True)
    text = traitlets.Unicode().tag(sync=True)
    block = traitlets.Unicode().tag(sync=True)
    layer = traitlets.Int(None, allow_none=True).tag(sync=True)
    head = traitlets.Int(None, allow_none=True).tag(sync=True)
    pinned = traitlets.Any(None, allow_none=True).tag(sync=True)
    changes = traitlets.Any(()).tag(
        sync=True, to_json=lambda changes, _: [stated(change) for change in changes]
    )
    trace = traitlets.Instance(Trace, read_only=True)

    def __init__(
        self,
        subject: Any,
        *about: Any,
        tokenizer: Any = None,
        scheme: str | None = None,
        layers: Sequence[int] | None = None,
        block: str | None = None,
        layer: int | None = None,
        head: int | None = None,
        lang: str = "en",
        theme: str | None = None,
        height: int = HEIGHT,
    ) -> None:
        self._model, sentence = asked(
            subject, about, {"tokenizer": tokenizer, "scheme": scheme, "layers": layers}
        )
        self._request = ask(sentence)
        self._lang, self._theme = lang, theme
        self._api: InProcessApi | None = None
        self._attentions = self._model.info.attentions
        trace = traced(self._model, self._request)
        runs = not isinstance(self._model, GivenAttention)
        if not runs:  # the kernel of a model has all weights as they are
            warn_if_large(trace)
        self.set_trait("trace", trace)
        block = self._attentions[-1].block if block is None else block
        place = {"block": block, "layer": layer, "head": head}
        nonce = secrets.token_hex(8)
        info = ModelReply.model_validate(self._model.info).model_dump(mode="json")
        super().__init__(
            **place,
            text=self._request.source,
            changes=trace.request.interventions,
            height=height,
            _models=[info] if runs else [],
            _nonce=nonce,
        )
        self._page = handout(self._content(), "", theme, nonce)
        self.on_msg(self._answer)

    @traitlets.validate("block")
    def _known_block(self, proposal: Any) -> str:
        blocks = list(dict.fromkeys(attention.block for attention in self._attentions))
        if proposal.value not in blocks:
            raise traitlets.TraitError(
                f"block is {proposal.value!r}; known are {', '.join(blocks)}"
            )
        return str(proposal.value)

    @traitlets.validate("layer")
    def _known_layer(self, proposal: Any) -> int | None:
        layers = [attention.layer for attention in self._open_layers()]
        return _within("layer", proposal.value, max(layers) + 1, f"layers of {self.block}")

    @traitlets.validate("head")
    def _known_head(self, proposal: Any) -> int | None:
        heads = max(attention.heads for attention in self._open_layers())
        return _within("head", proposal.value, heads, f"heads of {self.block}")

    @traitlets.validate("pinned")
    def _known_cell(self, proposal: Any) -> tuple[int, int] | None:
        if proposal.value is None:
            return None
        try:
            query, key = proposal.value
        except (TypeError, ValueError):
            raise traitlets.TraitError(
                f"pinned is {proposal.value!r}; it must be (query, key) or None"
            ) from None
        attention = self._open_layers()[0]
        for name, index in (("query", query), ("key", key)):
            text = attention.over[name]
            tokens = len(self.trace.texts[text])
            _within(f"{name} of pinned", index, tokens, f"tokens of the {text}")
        return query, key

    @traitlets.validate("changes")
    def _possible_changes(self, proposal: Any) -> tuple[Intervention, ...]:
        changes = tuple(map(_intervention, _several(proposal.value)))
        try:
            self._model.validate(replace(self._request, source=self.text, interventions=changes))
        except InputError as error:
            raise traitlets.TraitError(str(error)) from error
        return changes

    @traitlets.observe("text", "changes")
    def _run(self, _: Any) -> None:
        request = replace(self._request, source=self.text, interventions=self.changes)
        before = self.trace.request
        if (request.source, request.interventions) != (before.source, before.interventions):
            self.set_trait("trace", traced(self._model, request))

    def _open_layers(self) -> list[AttentionInfo]:
        return [attention for attention in self._attentions if attention.block == self.block]

    def _content(self) -> HandoutContent:
        query, key = self.pinned or (None, None)
        place = {
            "block": self.block,
            "layer": self.layer,
            "head": self.head,
            "query": query,
            "key": key,
            "lang": self._lang,
        }
        return content(self._model, self.trace, place)

    def figure(self) -> Shown:
        """Return the figure as it is now, as `show` does: `figure().save("cat.html")`."""
        drawn = self._content()
        return Shown(handout(drawn, "", self._theme), self.height, drawn)

    def close(self) -> None:
        """Remove the figure, and stop answering it."""
        super().close()
        if self._api is not None:
            self._api.close()
            self._api = None

    def _answer(self, _: Any, question: Mapping[str, Any], __: Any) -> None:
        """Answer a request of a page, whose number goes back with the reply."""
        reply = self._reply(question)
        about = {"view": question.get("view"), "id": question.get("id")}
        about |= {"status": reply.status, "type": reply.media_type}
        self.send(about, [reply.body])

    def _reply(self, question: Mapping[str, Any]) -> ApiReply:
        path = str(question.get("path", ""))
        if not path.startswith(PATHS):
            return ApiReply(404, "application/problem+json", b"{}")
        if self._api is None:
            self._api = InProcessApi(self._model)
        method, accept = str(question.get("method", "GET")), str(question.get("accept", "*/*"))
        return self._api.reply(method, path, accept, question.get("body"))

    def _repr_mimebundle_(self, **options: Any) -> Any:
        """Return the widget, and for files and for pages without a kernel the figure as it is."""
        bundle = super()._repr_mimebundle_(**options)
        if bundle is not None:
            bundle[0]["text/html"] = self.figure()._repr_html_()
        return bundle

    def __repr__(self) -> str:
        place = f"block={self.block!r}, layer={self.layer}, head={self.head}"
        return f"Widget({self.text!r}, {place}, changes={len(self.changes)})"


def _within(name: str, index: Any, count: int, of: str) -> int | None:
    if index is None:
        return None
    if not isinstance(index, int) or not 0 <= index < count:
        raise traitlets.TraitError(f"{name} is {index!r}; the {of} are 0 … {count - 1}")
    return index


def _several(changes: Any) -> Iterable[Any]:
    if changes is None:
        return ()
    if isinstance(changes, Intervention | Mapping | str) or not isinstance(changes, Iterable):
        raise traitlets.TraitError(
            f"changes is {type(changes).__name__}; it must be a list of Interventions"
        )
    return changes


def _intervention(change: Any) -> Intervention:
    if isinstance(change, Intervention):
        return change
    try:
        return InterventionRequest.model_validate(change).intervention()
    except ValidationError as error:
        raise traitlets.TraitError(f"changes has {change!r}: {error}") from error
