"""Pages: Jinja templates in the reader's language.

Every template is given: ``lang`` and ``languages``; ``asset(path)``, the address of a file in
`static/`; ``page_file(name)``, that of a page's one script or stylesheet; ``vendor(name)``, that of
a file out of a package; ``plotly_url`` and ``catalog_url``; ``url_for(name, **parameters)``, the
path of a route; ``page_url``, the address without its query; ``share``, which is None or
``{"id", "title", "translation"}``.
"""

from collections.abc import Mapping
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse

from app.assets.languages import languages, negotiate
from app.assets.templates import environment, static_digest
from app.services import Services

HEADERS = {"Cache-Control": "no-cache", "Vary": "Accept-Language, Cookie"}


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
