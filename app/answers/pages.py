"""Pages: Jinja templates in the reader's language.

Every template is given: ``lang`` and ``languages``; ``asset(path)``, the address of a file in
`static/`; ``vendor(name)``, that of a file out of a package; ``plotly_url`` and ``catalog_url``;
``url_for(name, **parameters)``, the path of a route; ``page_url``, the address without its query;
``modules`` and ``view_sheets``, the page's JavaScript and the views' stylesheets in `static/`;
``share``, which is None or ``{"id", "title", "translation"}``.
"""

from collections.abc import Mapping
from functools import cache
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse

from app.assets.files import modules, view_sheets
from app.assets.languages import languages, negotiate
from app.assets.templates import environment, static_digest
from app.services import Services

HEADERS = {"Cache-Control": "no-cache", "Vary": "Accept-Language, Cookie"}


def static_url(path: str) -> str:
    """The address of a file under `static/`, good for as long as the folder stays the same."""
    return f"/static/{static_digest()}/{path}"


@cache
def modules_of(entry: str, digest: str) -> list[str]:
    """`modules`, read once for what the folders hold."""
    return modules(entry)


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
    entry: str = "pages/workspace.js",
    headers: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """A page in the language that the reader wants; `entry` is the module that it runs."""
    digest = static_digest()
    offered = languages()
    lang = negotiate(request, offered)
    page = environment(lang, digest).get_template(template)
    content = page.render(
        lang=lang,
        languages=offered,
        asset=lambda path: f"/static/{digest}/{path}",
        vendor=services.vendor.url,
        plotly_url=services.vendor.url("plotly.min.js"),
        catalog_url=f"/static/{digest}/i18n/{lang}.json",
        url_for=request.app.url_path_for,
        page_url=base_url(request, services) + request.url.path,
        share=share,
        modules=modules_of(entry, digest),
        view_sheets=view_sheets(),
    )
    return HTMLResponse(content, status, {**HEADERS, **(headers or {})})


def not_found_page(request: Request) -> HTMLResponse:
    """What a reader sees at an address where there is nothing."""
    return render(request, request.app.state.services, "not-found.html", status=404)
