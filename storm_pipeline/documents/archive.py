"""Zip archives from unknown hands: what they unpack to is bounded, whatever they claim."""

import io
import zipfile

_MOST_BYTES = 300_000_000


class TooLargeError(ValueError):
    """An archive unpacks to more than it may."""


class BoundedZip:
    """Reads the members of a zip archive, up to a total size.

    Args:
        data: the archive.
        most_bytes: what all that is read may come to; counted as it is unpacked, since headers can lie.

    Raises:
        zipfile.BadZipFile: it is no archive.
    """

    def __init__(self, data: bytes, most_bytes: int = _MOST_BYTES) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        self._most = self._left = most_bytes

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all members."""
        return tuple(self._zip.namelist())

    def read(self, name: str) -> bytes:
        """A member, unpacked.

        Raises:
            TooLargeError: it exceeds what is left of the total.
            KeyError: there is no such member.
        """
        with self._zip.open(name) as member:
            data = member.read(self._left + 1)
        if len(data) > self._left:
            raise TooLargeError(f"unpacks to more than {self._most:,} bytes; split it, or remove pictures from it")
        self._left -= len(data)
        return data
