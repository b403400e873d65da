"""Jinja templates for each language, and the digest in the addresses of static files.

Pages: Jinja templates in the reader's language.

Every template receives: ``lang`` and ``languages``; ``asset(path)``, the address of a file in
`static/`; ``page_file(name)``, that of a page's one script or stylesheet; ``vendor(name)``, that of
a file from a package; ``plotly_url`` and ``catalog_url``; ``url_for(name, **parameters)``, the
path of a route; ``page_url``, the address without its query; ``share``, which is None or
``{"id", "title", "translation"}``; ``problem``, which is None or the kind of a problem;
``trains``, whether this server trains; ``surveyed``, a model whose heads are measured, or None;
``newcomer``, which says whether to show the introduction (see the function `newcomer`);
``room``, which is None or ``{"code", "link", "screen"}``;
``served``, which is false in a page without a server (`app.site`); ``folder``, where such a page
has its model.
"""

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from cachetools import TTLCache, cached
from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.assets.languages import LOCALE, languages, negotiate, translations
from app.assets.static_files import STATIC, Vendor, digest_of
from app.http.host_names import ANY_ADDRESS, is_loopback, lan_address
from app.http.problems import ProblemError
from app.http.route_dependencies import Services
from app.settings import ROOT, Settings

TEMPLATES = ROOT / "templates"
FRESH_SECONDS = 1  # how long the digest is cached, since a page requests many files at once


@cached(TTLCache(1, FRESH_SECONDS))
def static_digest() -> str:
    """Return the digest in the addresses of the files in `static/`."""
    return digest_of(STATIC, LOCALE)


@cache
def environment(lang: str, digest: str) -> Environment:
    """Return templates for one language; each has its own, since Jinja binds gettext globally."""
    jinja = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    catalog = translations(lang)
    jinja.install_gettext_translations(catalog, newstyle=True)  # type: ignore[attr-defined]
    return jinja


HEADERS = {"Cache-Control": "no-cache", "Vary": "Accept-Language, Cookie"}


class PageFacts:
    """What every page is told of this server: each subject adds facts under their names."""

    def __init__(self) -> None:
        self._facts: dict[str, Callable[[], object]] = {}

    def add(self, name: str, fact: Callable[[], object]) -> None:
        """Add a fact, which is looked up whenever a page is rendered."""
        self._facts[name] = fact

    def all(self) -> dict[str, object]:
        """Return all facts by name."""
        return {name: fact() for name, fact in self._facts.items()}


def base_url(request: Request, services: Services) -> str:
    """Return the address of this server for others, without a trailing slash.

    A page opened as localhost on the server's own machine gets links for the local network.
    """
    settings = services[Settings]
    if settings.public_url:
        return settings.public_url.rstrip("/")
    base = request.base_url
    host, asking = base.hostname or "", request.client.host if request.client else ""
    local = is_loopback(host) and is_loopback(asking)  # in a container, only the first is
    if local and settings.host in ANY_ADDRESS and (address := lan_address()):
        base = base.replace(hostname=address)
    return str(base).rstrip("/")


def render(
    request: Request,
    services: Services,
    template: str,
    *,
    share: dict[str, Any] | None = None,
    problem: str | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    more: Mapping[str, Any] | None = None,
) -> HTMLResponse:
    """Render a page in the reader's language; `more` is what only its template receives."""
    digest = static_digest()
    offered = languages()
    lang = negotiate(request, offered)
    page = environment(lang, digest).get_template(template)
    content = page.render(
        lang=lang,
        languages=offered,
        asset=lambda path: f"/static/{digest}/{path}",
        page_file=lambda name: f"/static/{digest}/page/{name}",
        vendor=services[Vendor].url,
        plotly_url=services[Vendor].url("plotly.min.js"),
        catalog_url=f"/static/{digest}/i18n/{lang}.json",
        url_for=request.app.url_path_for,
        page_url=base_url(request, services) + request.url.path,
        share=share,
        problem=problem,
        **services[PageFacts].all(),
        **{
            "newcomer": newcomer(request),
            "room": None,
            "served": True,
            "folder": "",
            **(more or {}),
        },
    )
    return HTMLResponse(content, status, {**HEADERS, **(headers or {})})


def newcomer(request: Request) -> str:
    """Return "asked" if the link requests the introduction, "new" if only newcomers see it."""
    query = request.query_params
    if query.get("opening") == "1":
        return "asked"
    return "" if set(query) - {"lang"} else "new"


def problem_page(request: Request, problem: ProblemError) -> HTMLResponse:
    """Return the page for an address that cannot be shown."""
    services: Services = request.app.state.services
    return render(
        request,
        services,
        "problem.html",
        problem=problem.kind,
        status=problem.status_code,
        headers=problem.headers,
    )
