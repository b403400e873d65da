"""Writes THIRD_PARTY_NOTICES.md from the installed packages: ``python -m deploy.notices``."""

from collections.abc import Iterable

from deploy.third_party import ROOT, packages, scripts

FILE = ROOT / "THIRD_PARTY_NOTICES.md"
LICENSES = ROOT / "deploy/licenses"

OPENING = """\
# Third-party notices

Headlight is under the [MIT licence](LICENSE). This file lists the third-party software that it \
runs on or serves, with licences. `make notices` writes it.
"""
SERVED = """\
## Served to browsers

These files are part of the Python packages `plotly` and `fastapi-offline`, and are identical to \
those of the npm packages `plotly.js-dist-min` and `swagger-ui-dist`. No handout contains \
them. Copyright notices and licences: [plotly.js](#plotlyjs), [MapLibre GL JS](#maplibre-gl), \
which it contains, and [Swagger UI](#swagger-ui). No third-party fonts or icons are served.
"""
RUN = """\
## Python packages

pip installs these packages; they are not in this repository. In an image or an environment, the \
folder `NAME-VERSION.dist-info` of each package has its licence and those of bundled software. \
Packages marked * contain no licence text; it is [below](#licences).
"""
IMAGE = """\
## In a container image

An image built with the `Dockerfile` also contains Python \
([PSF-2.0](https://docs.python.org/3/license.html)) and Debian packages, among them Noto CJK, the \
fonts of link previews (OFL-1.1). Their licences are in `/usr/share/doc/*/copyright`. PyTorch \
builds with CUDA contain libraries under [NVIDIA's terms](https://docs.nvidia.com/cuda/eula/).
"""
MODEL = """\
## The model

It was trained on sentences by the contributors of [Tatoeba](https://tatoeba.org) \
([CC BY 2.0 FR](https://creativecommons.org/licenses/by/2.0/fr/)), on captions of \
[3AM](https://aclanthology.org/2024.lrec-main.1/) (MIT), and on a little of MASSIVE and SLURP \
(CC BY 4.0), African Storybook (CC BY), LineageOS, Thunderbird and Wikipedia for Android \
(Apache-2.0), the Hugging Face course (Apache-2.0), the Open Source Guides (CC BY 4.0), TICO-19 \
(CC0), CLDR (Unicode-3.0) and Natural Earth (public domain): see its \
[card](model/checkpoints/en-zh/README.md).
"""


def content() -> str:
    """Return the whole file, from the installed packages and the texts in deploy/licenses."""
    libraries = scripts()
    served = (
        (f"`{file}`", f"[{library.name}]({library.page})", library.version, library.licence)
        for library in libraries
        for file in library.files
    )
    run = (
        (
            f"[{package.name}]({package.page})" + ("" if package.texts else " *"),
            package.version,
            package.licence,
        )
        for package in packages()
    )
    named = [text for library in libraries for text in library.texts]
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
    """Return a table in Markdown."""
    lines = [heads, ("---",) * len(heads), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def quoted(name: str) -> str:
    """Return a text of deploy/licenses as a code block."""
    return f"```text\n{(LICENSES / f'{name}.txt').read_text()}```\n"


if __name__ == "__main__":
    FILE.write_text(content())
