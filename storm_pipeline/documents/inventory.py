"""What a folder of documents holds, counted."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from storm_pipeline.documents.document import Document, Unreadable
from storm_pipeline.documents.kept import KeptDocuments
from storm_pipeline.documents.reader import read_documents
from storm_pipeline.text.formatting import counted


@dataclass(frozen=True)
class Inventory:
    """What a folder holds."""

    documents: tuple[Document, ...]  # those that can be read
    scans: tuple[Path, ...]  # files without text, of which text recognition makes copies that can be read
    broken: int  # number of files that cannot be read for another reason
    problems: tuple[str, ...]  # why, one sentence each

    @property
    def summary(self) -> str:
        """``3 readable, 1 scan, 1 broken; author and year known of 2``."""
        known = sum(bool(one.record.authors and one.record.published) for one in self.documents)
        counts = [
            f"{len(self.documents)} readable",
            counted(len(self.scans), "scan") if self.scans else "",
            f"{self.broken} broken" if self.broken else "",
        ]
        return f"{', '.join(filter(None, counts))}; author and year known of {known}"


def take_inventory(path: Path, cache: Path) -> Inventory:
    """Read a file or folder, and count what it holds. ``cache``: folder of what was read before, and is kept."""
    found = list(read_documents(path.expanduser(), kept=KeptDocuments(cache)))
    documents = tuple(one for one in found if isinstance(one, Document))
    refused = [one for one in found if isinstance(one, Unreadable)]
    read = {unquote(urlsplit(one.url).path) for one in documents}
    lost = {one.file for one in refused if one.file and not one.is_scan and str(Path(one.file).resolve()) not in read}
    scans = tuple(Path(one.file) for one in refused if one.is_scan)
    return Inventory(documents, scans, len(lost), tuple(one.reason for one in refused))
