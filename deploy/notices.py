"""Write THIRD_PARTY_NOTICES.md from what is installed: ``python -m deploy.notices``."""

from collections.abc import Iterable

from deploy.parts import ROOT, packages, scripts

FILE = ROOT / "THIRD_PARTY_NOTICES.md"
LICENSES = ROOT / "deploy/licenses"

OPENING = """\
# Third-party notices

Headlight is under the [MIT licence](LICENSE). This is what it runs on and what it serves that \
others made, with their licences. `make notices` writes this file.
"""
SERVED = """\
## Served to browsers

These files come out of the Python packages `plotly` and `fastapi-offline`, and are the same \
byte for byte as those of the npm packages `plotly.js-dist-min` and `swagger-ui-dist`. plotly.js \
is also part of every handout. Copyright notices and licences: [plotly.js](#plotlyjs), \
[MapLibre GL JS](#maplibre-gl), which is a part of it, and [Swagger UI](#swagger-ui). Fonts and \
icons of others are not served.
"""
RUN = """\
## Python packages

pip installs them; they are not in this repository. In an image or an environment each has its \
licence beside it, with those of what it bundles, in `NAME-VERSION.dist-info`. Those marked * \
bring no text; it is [below](#licences).
"""
IMAGE = """\
## In a container image

An image built with the `Dockerfile` also holds Python \
([PSF-2.0](https://docs.python.org/3/license.html)), packages of Debian, and of them Noto CJK, the \
fonts of link previews (OFL-1.1). Their licences are in `/usr/share/doc/*/copyright`. A PyTorch \
built with CUDA brings libraries of NVIDIA under [its terms](https://docs.nvidia.com/cuda/eula/).
"""
MODEL = """\
## The model

It was trained on sentences by the contributors of [Tatoeba](https://tatoeba.org) \
([CC BY 2.0 FR](https://creativecommons.org/licenses/by/2.0/fr/)) and on captions of \
[3AM](https://aclanthology.org/2024.lrec-main.1/) (MIT): see its \
[card](model/checkpoints/en-zh/README.md).
"""


def content() -> str:
    """The whole file, from what is installed and the texts in deploy/licenses."""
    libraries = scripts()
    served = (
        (f"`{file}`", f"[{one.name}]({one.page})", one.version, one.licence)
        for one in libraries
        for file in one.files
    )
    run = (
        (f"[{one.name}]({one.page})" + ("" if one.texts else " *"), one.version, one.licence)
        for one in packages()
    )
    named = [text for one in libraries for text in one.texts]
    licences = sorted({path.stem for path in LICENSES.glob("*.txt")} - set(named))
    return "\n".join(
        [
            OPENING,
            SERVED,
            table(("file", "of", "version", "licence"), served),
            *(f"### {name}\n\n{quoted(name)}" for name in named),
            RUN,
            table(("package", "version", "licence"), run),
            IMAGE,
            MODEL,
            "## Licences\n",
            *(f"### {name}\n\n{quoted(name)}" for name in licences),
        ]
    )


def table(heads: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def quoted(name: str) -> str:
    """A text of deploy/licenses as it is."""
    return f"```text\n{(LICENSES / f'{name}.txt').read_text()}```\n"


if __name__ == "__main__":
    FILE.write_text(content())
