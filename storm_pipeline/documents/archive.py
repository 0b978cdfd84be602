"""Reading untrusted zip archives with a limit on the unpacked size."""

import io
import zipfile

_MAX_BYTES = 300_000_000


class TooLargeError(ValueError):
    """An archive exceeds the limit on its unpacked size."""


class BoundedZip:
    """Reads the members of a zip archive, up to a total size.

    Args:
        data: the archive.
        max_bytes: limit on all that is read; counted while unpacking, since headers can lie.

    Raises:
        zipfile.BadZipFile: it is not a zip archive.
    """

    def __init__(self, data: bytes, max_bytes: int = _MAX_BYTES) -> None:
        self._zip = zipfile.ZipFile(io.BytesIO(data))
        self._limit = self._left = max_bytes

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all members."""
        return tuple(self._zip.namelist())

    def read(self, name: str) -> bytes:
        """Unpack a member.

        Raises:
            TooLargeError: it exceeds what is left of the limit.
            KeyError: there is no such member.
        """
        with self._zip.open(name) as member:
            data = member.read(self._left + 1)
        if len(data) > self._left:
            raise TooLargeError(f"unpacks to more than {self._limit:,} bytes; split it, or remove images from it")
        self._left -= len(data)
        return data
