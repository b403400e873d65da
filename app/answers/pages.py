"""Pages: Jinja templates in the reader's language.

Every template is given: ``lang`` and ``languages``; ``asset(path)``, the address of a file in
`static/`; ``page_file(name)``, that of a page's one script or stylesheet; ``vendor(name)``, that of
a file out of a package; ``plotly_url`` and ``catalog_url``; ``url_for(name, **parameters)``, the
path of a route; ``page_url``, the address without its query; ``share``, which is None or
``{"id", "title", "translation"}``.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from cachetools import TTLCache, cached
from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.assets.files import STATIC, digest_of
from app.assets.languages import LOCALE, languages, negotiate, translations
from app.services import Services
from app.settings import ROOT

TEMPLATES = ROOT / "templates"
FRESH_SECONDS = 1  # an edited file is seen after that; a page asks for a hundred of them at once
HEADERS = {"Cache-Control": "no-cache", "Vary": "Accept-Language, Cookie"}


@cached(TTLCache(1, FRESH_SECONDS))
def static_digest() -> str:
    """The digest in the addresses of what comes from our own folders."""
    return digest_of(STATIC, LOCALE)


def base_url(request: Request, services: Services) -> str:
    """Where this server is found, without a slash at the end."""
    return (services.settings.public_url or str(request.base_url)).rstrip("/")


def render(
    request: Request,
    services: Services,
    template: str,
    *,
    share: dict[str, Any] | None = None,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """A page in the language that the reader wants."""
    digest = static_digest()
    offered = languages()
    lang = negotiate(request, offered)
    page = environment(lang, digest).get_template(template)
    content = page.render(
        lang=lang,
        languages=offered,
        asset=lambda path: f"/static/{digest}/{path}",
        page_file=lambda name: f"/static/{digest}/page/{name}",
        vendor=services.vendor.url,
        plotly_url=services.vendor.url("plotly.min.js"),
        catalog_url=f"/static/{digest}/i18n/{lang}.json",
        url_for=request.app.url_path_for,
        page_url=base_url(request, services) + request.url.path,
        share=share,
    )
    return HTMLResponse(content, status, {**HEADERS, **(headers or {})})


def not_found_page(request: Request) -> HTMLResponse:
    """What a reader sees at an address where there is nothing."""
    return render(request, request.app.state.services, "not-found.html", status=404)


@cache
def environment(lang: str, digest: str) -> Environment:
    """Templates that speak one language; each has its own, since Jinja binds gettext globally."""
    made = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    catalog = translations(lang)
    made.install_gettext_translations(catalog, newstyle=True)  # type: ignore[attr-defined]
    return made
