"""Pages in the reader's language, and files at addresses whose content never changes."""

import gzip
import re
from pathlib import Path

import brotli
import httpx
import pytest
from starlette.requests import Request

from app.assets import languages
from app.assets.bundles import bundle
from app.assets.static_files import FOREVER, Vendor, digest_of, find_static, vendored
from app.assets.templates import static_digest
from tests.serving.fixtures import Serving

PO = """
msgid ""
msgstr ""
"Language: zh\\n"
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

msgid "Share"
msgstr "分享"

msgctxt "matrix"
msgid "key"
msgstr "键"

msgid "{count} head"
msgid_plural "{count} heads"
msgstr[0] "{count} 个头"

#, fuzzy
msgid "Layer"
msgstr "第一层"

msgid "Not yet"
msgstr ""
"""


@pytest.fixture
def locale(tmp_path: Path) -> Path:
    path = tmp_path / "locale" / "zh" / "LC_MESSAGES" / "messages.po"
    path.parent.mkdir(parents=True)
    path.write_text(PO)
    return tmp_path / "locale"


def reader(query: str = "", cookie: str = "", accept: str = "") -> Request:
    headers = [(b"cookie", cookie.encode()), (b"accept-language", accept.encode())]
    return Request({"type": "http", "query_string": query.encode(), "headers": headers})


@pytest.mark.parametrize(
    ("query", "cookie", "accept", "lang"),
    [
        ("", "", "", "en"),
        ("", "", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("", "", "zh-Hans-CN", "zh"),
        ("", "", "en-GB,zh;q=0.9", "en"),
        ("", "", "en;q=0.2,zh;q=0.9", "zh"),
        ("", "", "de,fr;q=0.5", "en"),
        ("", "", "zh;q=0, en;q=0.1", "en"),
        ("", "lang=zh", "en", "zh"),
        ("lang=en", "lang=zh", "zh", "en"),
        ("lang=zh", "", "en", "zh"),
        ("lang=xx", "", "zh", "zh"),
        ("lang=../../etc", "lang=%00", ";;;q=q", "en"),
    ],
)
def test_language(query: str, cookie: str, accept: str, lang: str) -> None:
    assert languages.negotiate(reader(query, cookie, accept), ["en", "zh"]) == lang


def test_one_catalog_for_server_and_browser(locale: Path) -> None:
    assert languages.languages(locale) == ["en", "zh"]
    assert languages.translations("zh", locale).gettext("Share") == "分享"
    assert languages.translations("zh", locale).ngettext("{count} head", "", 2) == "{count} 个头"
    assert languages.translations("en", locale).gettext("Share") == "Share"
    assert languages.messages("zh", locale) == {
        "Share": "分享",
        "matrix\x04key": "键",
        "{count} head": ["{count} 个头"],
    }
    assert languages.messages("en", locale) == {}


@pytest.mark.parametrize("path", ["/", "/docs"])
def test_page(reader: httpx.Client, path: str) -> None:
    page = reader.get(path, headers={"Accept-Language": "en"})
    assert page.status_code == 200
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert page.headers["cache-control"] == "no-cache"
    assert {"Accept-Language", "Cookie"} <= set(page.headers["vary"].split(", "))
    assert '<html lang="en"' in page.text


def test_all_files_of_a_page_exist(reader: httpx.Client) -> None:
    for path in ("/", "/docs", "/nothing", "/lab", "/zoo", "/train"):
        page = reader.get(path, headers={"Accept": "text/html"}).text
        kinds = re.findall(r'"/static/[^"]+/page/[^"]+\.(css|js)"', page)
        assert {*kinds} == ({"css"} if path == "/nothing" else {"css", "js"}), path
        for url in set(re.findall(r'"(/(?:static|vendor)/[^"]+)"', page)):
            response = reader.get(url)
            assert response.status_code == 200, url
            assert response.headers["cache-control"] == FOREVER, url


@pytest.mark.parametrize(("name", "kind"), [("workspace.js", "javascript"), ("docs.css", "css")])
@pytest.mark.parametrize("encoding", ["identity", "gzip", "br"])
def test_a_page_comes_as_one_file(
    reader: httpx.Client, name: str, kind: str, encoding: str
) -> None:
    url = f"/static/{static_digest()}/page/{name}"
    response = reader.get(url, headers={"Accept-Encoding": encoding})
    assert response.headers["content-type"].startswith(f"text/{kind}")
    assert response.headers.get("content-encoding", "identity") == encoding
    assert "Accept-Encoding" in response.headers["vary"]
    made = bundle(name, static_digest())
    assert made is not None
    assert response.content == made.content


def test_an_old_address_is_served_without_caching(reader: httpx.Client) -> None:
    response = reader.get("/static/0123456789abcdef/js/pages/workspace.js")
    assert response.status_code == 200
    assert response.headers["cache-control"] == "no-cache"


@pytest.mark.parametrize(
    "path",
    [
        "js/none.js",
        "page/none.js",
        "page/problem.js",
        "page/workspace",
        "js",
        "",
        "../app/main.py",
        "%2e%2e/app/main.py",
        "js/..%2f..%2fapp/main.py",
        "/etc/passwd",
        "%2fetc%2fpasswd",
        "js/%00.js",
        "i18n/xx.json",
        "x" * 300,
        "x/" * 90,
    ],
)
def test_nothing_else_is_served(reader: httpx.Client, path: str) -> None:
    response = reader.get(httpx.URL(f"http://headlight/static/0/{path}"))
    assert response.status_code == 404, response.text
    assert reader.get("/vendor/0/none.js").status_code == 404


def test_the_browser_gets_its_catalog(reader: httpx.Client) -> None:
    response = reader.get(f"/static/{static_digest()}/i18n/en.json")
    assert response.json() == {}
    assert response.headers["cache-control"] == FOREVER


def test_an_edited_file_has_another_address(tmp_path: Path) -> None:
    file = tmp_path / "a.js"
    file.write_text("one")
    digests = {digest_of(tmp_path)}
    file.write_text("two")
    digests.add(digest_of(tmp_path))
    file.rename(tmp_path / "b.js")
    digests.add(digest_of(tmp_path))
    assert len(digests) == 3
    assert find_static("b.js", tmp_path) == tmp_path / "b.js"


def test_vendored_files_are_compressed_once(tmp_path: Path) -> None:
    sources = vendored()
    vendor = Vendor({"swagger-ui.css": sources["swagger-ui.css"]}, tmp_path / "cache")
    original = sources["swagger-ui.css"].read_bytes()
    assert vendor.find("swagger-ui.css", ["br"]) == (sources["swagger-ui.css"], None)
    vendor.compress().join()
    path, encoding = vendor.find("swagger-ui.css", ["gzip", "br"])
    assert (encoding, brotli.decompress(path.read_bytes())) == ("br", original)
    path, encoding = vendor.find("swagger-ui.css", ["gzip"])
    assert (encoding, gzip.decompress(path.read_bytes())) == ("gzip", original)
    assert vendor.find("swagger-ui.css", [])[1] is None

    before = path.stat()
    vendor.compress().join()
    assert path.stat() == before


def test_files_left_by_a_killed_start_are_removed(tmp_path: Path) -> None:
    name = "swagger-ui.css"
    vendor = Vendor({name: vendored()[name]}, tmp_path)
    vendor.compress().join()
    whole = {path: path.read_bytes() for path in tmp_path.glob("*-*")}
    assert len(whole) == 2
    (compressed, *_) = whole
    compressed.unlink()
    for left in (f"{compressed.name}x3_ab9zq", f"0123456789abcdef-{name}.gzab12cd34"):
        (tmp_path / left).write_bytes(b"half")
    (tmp_path / "of others.brick").touch()
    vendor.compress().join()
    assert {path: path.read_bytes() for path in tmp_path.glob("*-*")} == whole
    assert (tmp_path / "of others.brick").exists()


@pytest.mark.parametrize("name", vendored())
def test_vendored_files_are_served(reader: httpx.Client, name: str) -> None:
    page = reader.get("/").text + reader.get("/docs").text
    (url,) = set(re.findall(rf'"(/vendor/[0-9a-f]+/{re.escape(name)})"', page))
    response = reader.get(url)
    assert response.content == vendored()[name].read_bytes()
    assert response.headers["cache-control"] == FOREVER
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    assert response.headers["content-type"].startswith(kind)


async def test_a_compressed_copy_is_sent_unchanged(serving: Serving, tmp_path: Path) -> None:
    async with serving(data_dir=tmp_path) as client:
        Vendor(vendored(), tmp_path / "cache")._compress()
        url = re.findall(r'"(/vendor/[^"]+plotly[^"]+)"', (await client.get("/")).text)[0]
        for encoding in ("br", "gzip"):
            response = await client.get(url, headers={"Accept-Encoding": encoding})
            assert response.headers["content-encoding"] == encoding
            assert int(response.headers["content-length"]) < 2_000_000
            assert response.content == vendored()["plotly.min.js"].read_bytes()


@pytest.mark.parametrize("path", ["/", "/lab", "/zoo", "/learn", "/room"])
async def test_training_is_linked_where_the_server_trains(serving: Serving, path: str) -> None:
    for runs, linked in ((1, True), (0, False)):
        async with serving(max_runs=runs) as client:
            page = await client.get(path, headers={"Accept": "text/html"})
            header, _, _ = page.text.partition("<main>")
            assert ('href="/train?' in header) == linked
            assert f'href="{"/lab" if path == "/zoo" else "/zoo"}?' in header


async def test_a_lesson_shows_a_recorded_run_where_the_server_does_not_train(
    serving: Serving,
) -> None:
    for runs, page, opens in ((1, "train", "/train?"), (0, "workspace", "/?")):
        async with serving(max_runs=runs) as client:
            text = (await client.get("/learn/training")).text
            figure = text[text.index('id="figure-1"') :].partition("</figure>")[0]
            assert f'data-page="{page}"' in figure
            assert f'class="open" href="{opens}' in figure
            assert ("trains no models" in figure) == (not runs)
            assert (await client.get("/learn/training/figures/1.png")).status_code == 200
