"""A font for pictures drawn by the server, with Chinese characters if the system has one."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from PIL import ImageFont

# Folders with fonts, and the names of faces with simplified Chinese, best first.
FOLDERS = (
    "/usr/share/fonts",
    "/usr/local/share/fonts",
    "~/.local/share/fonts",
    "/System/Library/Fonts",
    "/Library/Fonts",
    "C:/Windows/Fonts",
)
FILES = (
    "NotoSansCJK-Regular.ttc",
    "NotoSansCJKsc-Regular.otf",
    "NotoSansSC-Regular.otf",
    "SourceHanSansSC-Regular.otf",
    "wqy-microhei.ttc",
    "PingFang.ttc",
    "Hiragino Sans GB.ttc",
    "msyh.ttc",
)
SIMPLIFIED = ("SC", "GB")  # the end of a face's family name in a collection of several

Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


@cache
def chinese_file(folders: tuple[str, ...] = FOLDERS) -> tuple[Path, int] | None:
    """Return a font file with Chinese, and the index of the face in it; None without one."""
    paths = {path.name: path for folder in folders for path in _files(Path(folder).expanduser())}
    for name in FILES:
        if name in paths:
            return paths[name], _face(paths[name])
    return None


class Typeface:
    """A font face in any size, which can tell the characters that it lacks."""

    def __init__(self, file: tuple[Path, int] | None) -> None:
        self.file = file
        self._fonts: dict[int, Font] = {}
        self._covered: dict[str, bool] = {}

    def at(self, size: int) -> Font:
        """Return the face in a size in pixels; without a file, Pillow's built-in Latin font."""
        if size not in self._fonts:
            self._fonts[size] = (
                ImageFont.truetype(self.file[0], size, index=self.file[1])
                if self.file
                else ImageFont.load_default(size)
            )
        return self._fonts[size]

    def covers(self, text: str) -> bool:
        """Return whether it can draw every character, rather than a placeholder box."""
        return all(self._has(character) for character in text)

    def covered(self, text: str) -> str:
        """Return the text without the characters that it cannot draw."""
        return "".join(character for character in text if self._has(character))

    def _has(self, character: str) -> bool:
        if character not in self._covered:
            self._covered[character] = character.isspace() or (
                character.isprintable() and _drawn(self, character) != _drawn(self, "\uffff")
            )
        return self._covered[character]


def _drawn(face: Typeface, character: str) -> bytes:
    mask = face.at(20).getmask(character)
    return bytes(mask) + repr(mask.size).encode()


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in folder.rglob("*") if path.suffix.lower() in (".ttc", ".otf", ".ttf"))


def _face(path: Path) -> int:
    """Return the first face of a collection for simplified Chinese, or the first face."""
    if path.suffix.lower() != ".ttc":
        return 0
    index = 0
    while True:
        try:
            family, _ = ImageFont.truetype(path, 10, index=index).getname()
        except OSError:
            return 0
        if str(family).endswith(SIMPLIFIED):
            return index
        index += 1
