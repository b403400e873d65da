"""A file with all that is stored: a backup, or for another database.

    shares.zip
    ├── contents/{sha256}    a file that documents name, stored once for all that use it
    ├── shares/{id}.json     a document; also collections/ and assignments/

Addresses are left out, since their digests have another key in another database. So have those of
the members who answered: in another database, a student who answers again is another member.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar
from zipfile import ZIP_DEFLATED, ZipFile

from pydantic import BaseModel, ConfigDict, ValidationError

from app.store.documents import ALPHABET, ID_LENGTH
from model.errors import FileError
from model.file_reading import JSON_BYTES, reading

CONTENTS, JSON = "contents/", ".json"


class ArchivedRow(BaseModel):
    """The document of a row, in an entry that has the name of its id."""

    model_config = ConfigDict(extra="forbid")

    id: str


Archived = TypeVar("Archived", bound=ArchivedRow)


class ArchiveFile:
    """An archive that is written."""

    def __init__(self, file: ZipFile) -> None:
        self._zip = file
        self._contents: set[bytes] = set()

    def add(self, kind: str, row_id: str, document: BaseModel) -> None:
        """Write the document of a row."""
        text = json.dumps(document.model_dump(mode="json"), ensure_ascii=False)
        self._zip.writestr(f"{kind}/{row_id}{JSON}", text, ZIP_DEFLATED)

    def add_content(self, digest: bytes, content: bytes) -> None:
        """Write a file that a document names by its digest, unless it is written already."""
        if digest not in self._contents:
            self._zip.writestr(CONTENTS + digest.hex(), content)
            self._contents.add(digest)


class Entries:
    """The entries of an archive that others may have written: names and sizes are checked first.

    Nothing is unpacked to the disk. All methods raise FileError.
    """

    def __init__(self, path: Path, kinds: Sequence[str]) -> None:
        self.path = path
        document = rf"({'|'.join(kinds)})/[{ALPHABET}]{{{ID_LENGTH}}}\.json"
        entry = re.compile(rf"contents/[0-9a-f]{{64}}|{document}")
        folders = {CONTENTS, *(f"{kind}/" for kind in kinds)}  # which other programs put into a ZIP
        with reading(path):
            self._zip = ZipFile(path)
            entries = [entry for entry in self._zip.infolist() if entry.filename not in folders]
        self._sizes = {entry.filename: entry.file_size for entry in entries}
        for name, number in Counter(entry.filename for entry in entries).items():
            if not entry.fullmatch(name):
                raise self.error(f"{name[:100]!r}", "it is no entry of an export")
            if number > 1:
                raise self.error(name, f"it is there {number} times")

    def under(self, folder: str) -> list[str]:
        """Return the names of the entries in a folder."""
        return sorted(name for name in self._sizes if name.startswith(f"{folder}/"))

    def read(self, names: Sequence[str], max_bytes: int) -> list[bytes]:
        """Return the contents of entries, which have at most so many bytes together.

        An entry that has more bytes than it states is damaged.
        """
        for name in names:
            if name not in self._sizes:
                raise self.error(name, "it is missing")
        if (size := sum(self._sizes[name] for name in names)) > max_bytes:
            raise self.error(names[0], f"it has {size:,} bytes; at most {max_bytes:,} are read")
        with reading(self.path):
            return [self._zip.read(name) for name in names]

    def contents(self, digests: Sequence[str], max_bytes: int) -> list[bytes]:
        """Return contents by their digests; as `read` does."""
        return self.read([CONTENTS + digest for digest in digests], max_bytes)

    def document(self, name: str, kind: type[Archived]) -> Archived:
        """Return the document in an entry that has the name of its id."""
        (content,) = self.read([name], JSON_BYTES)
        try:
            read = kind.model_validate_json(content)
        except ValidationError as error:
            raise self.error(name, "it is damaged") from error
        if not name.endswith(f"/{read.id}{JSON}"):
            raise self.error(name, "it is another one")
        return read

    def from_hex(self, name: str, text: str) -> bytes:
        """Return the bytes that an entry has as text."""
        try:
            return bytes.fromhex(text)
        except ValueError as error:
            raise self.error(name, "it is damaged") from error

    def error(self, name: str, reason: str) -> FileError:
        """Return the error for what is wrong with an entry."""
        return FileError(self.path, f"{name}: {reason}")

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
