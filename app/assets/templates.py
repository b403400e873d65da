"""Jinja templates for each language, and the digest in the addresses of static files."""

from functools import cache

from cachetools import TTLCache, cached
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from app.assets.files import STATIC, digest_of
from app.assets.languages import LOCALE, translations
from app.settings import ROOT

TEMPLATES = ROOT / "templates"
FRESH_SECONDS = 1  # how long the digest is cached, since a page requests many files at once


@cached(TTLCache(1, FRESH_SECONDS))
def static_digest() -> str:
    """Return the digest in the addresses of the files in `static/`."""
    return digest_of(STATIC, LOCALE)


@cache
def environment(lang: str, digest: str) -> Environment:
    """Return templates for one language; each has its own, since Jinja binds gettext globally."""
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
