"""Languages: the gettext catalogs in `locale/`, for the server's pages and for the browser.

English is the language of the source; every folder ``locale/{lang}`` adds one. Catalogs are
read directly from the ``.po`` files, so there is nothing to compile.
"""

import io
import re
from pathlib import Path

from babel import negotiate_locale
from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po
from babel.support import NullTranslations, Translations
from starlette.requests import Request

from app.http.file_formats import preferences
from app.settings import ROOT

SOURCE_LANGUAGE = "en"
LOCALE = ROOT / "locale"
# Not `request.cookies`: its library takes quadratic time to unquote a value in some versions.
COOKIE = re.compile(r"(?:^|;[ ]?)lang=([A-Za-z-]{2,16})(?=;|$)")
MAX_COOKIES = 8192  # characters that are searched; browsers send about 4,000 at most for each


def languages(folder: Path = LOCALE) -> list[str]:
    """Return the available languages, the source's first."""
    tags = sorted(path.parents[1].name for path in folder.glob("*/LC_MESSAGES/messages.po"))
    return [SOURCE_LANGUAGE, *(lang for lang in tags if lang != SOURCE_LANGUAGE)]


def negotiate(request: Request, offered: list[str]) -> str:
    """Choose the reader's language: `?lang=`, then the cookie, then the browser's preference."""
    preferred = [
        request.query_params.get("lang", ""),
        *COOKIE.findall(request.headers.get("cookie", "")[:MAX_COOKIES])[:1],
        *preferences(request.headers.get("accept-language", "")),
    ]
    tags = [lang.replace("-", "_") for lang in preferred if lang]
    return negotiate_locale(tags, offered, sep="_") or SOURCE_LANGUAGE


def catalog(lang: str, folder: Path = LOCALE) -> Catalog:
    """Return the catalog of a language from its ``.po``; empty for the source language."""
    path = folder / lang / "LC_MESSAGES" / "messages.po"
    if not path.is_file():
        return Catalog(locale=lang)
    with path.open("rb") as file:
        return read_po(file, locale=lang)


def translations(lang: str, folder: Path = LOCALE) -> NullTranslations:
    """Return the catalog of a language in the form that templates use."""
    compiled = io.BytesIO()
    write_mo(compiled, catalog(lang, folder))
    compiled.seek(0)
    return Translations(compiled)


def messages(lang: str, folder: Path = LOCALE) -> dict[str, str | list[str]]:
    r"""Return the catalog in the form that the browser uses: ``{msgid: msgstr, …}``.

    A message with a plural is a list of its forms under its singular; one with a context is under
    ``context + "\u0004" + msgid``, as in gettext itself. Untranslated and fuzzy messages are left
    out.
    """
    translations: dict[str, str | list[str]] = {}
    for message in catalog(lang, folder):
        if not message.id or message.fuzzy or not message.string:
            continue
        name = message.id if isinstance(message.id, str) else message.id[0]
        key = f"{message.context}\x04{name}" if message.context else name
        translations[key] = (
            message.string if isinstance(message.string, str) else list(message.string)
        )
    return translations
