"""Copies of a batch's articles in a bucket or a folder elsewhere, written by fsspec."""

import mimetypes
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from storm_pipeline.errors import SettingsError, needs_extra
from storm_pipeline.interfaces.batch.topics import TopicStatus
from storm_pipeline.run.article_json import files_for_readers, from_json
from storm_pipeline.text.configuration.addresses import redact, without_secrets
from storm_pipeline.text.files import read_plain
from storm_pipeline.text.formatting import first_line


class Copies:
    """The destination of the files that a reader needs: the article in three forms, and its sources.

    Never the run's requests, events, settings and costs. ``address``: such as ``s3://bucket/prefix`` or
    ``file:///folder``; keys come from the environment, as the library of the service reads them. Raises SettingsError,
    MissingExtraError: the address cannot be used.
    """

    def __init__(self, address: str) -> None:
        self.address = _checked(address)
        scheme = urlsplit(address).scheme
        self._is_s3 = scheme in {"s3", "s3a"}
        extra = needs_extra("s3", f"copying to {address}") if self._is_s3 else nullcontext()
        try:
            with extra:
                import fsspec

                self._files, self._root = fsspec.url_to_fs(address, **{"auto_mkdir": True} if scheme == "file" else {})
        except (ImportError, ValueError, OSError) as error:
            raise SettingsError(f"cannot copy to {address}: {redact(first_line(error))}") from error

    def add(self, batch: Path, row: TopicStatus) -> TopicStatus:
        """Return the row of a written article, which is copied to ``ADDRESS/BATCH/RUN/`` unless it is there.

        A failure is the row's error.
        """
        if row.copied == self.address:
            return row
        run = batch.resolve() / Path(row.folder).name
        try:
            # not the files of Markdown and HTML, which may be another's
            article = from_json(read_plain(run / "article.json").decode("utf-8"))
            for name, text in files_for_readers(article).items():
                kind = mimetypes.guess_type(name)[0] or "text/markdown"
                about = {"ContentType": f"{kind}; charset=utf-8"} if self._is_s3 else {}
                place = "/".join([self._root.rstrip("/"), run.parent.name, run.name, name])
                self._files.pipe_file(place, text.encode("utf-8"), **about)
        except Exception as error:  # noqa: BLE001 - each file system has errors of its own
            return replace(row, error=f"not copied to {self.address}: {first_line(error)}")
        return replace(row, error="", copied=self.address)


def _checked(address: str) -> str:
    """Return an address without credentials, or raise SettingsError."""
    try:
        parts = urlsplit(without_secrets(address))
        has_user = parts.username is not None
    except ValueError:
        has_user = True
    if has_user:
        raise SettingsError(
            "the address to copy to must not hold a user name, password or key: give those in the variables of its "
            "service, such as AWS_ACCESS_KEY_ID"
        )
    has_place = parts.path.startswith("/") if parts.scheme == "file" else parts.netloc
    if not has_place or parts.scheme == "memory":  # which ends with the process
        raise SettingsError(f"cannot copy to {address}: write s3://bucket/prefix, file:///folder or the like")
    return address.rstrip("/")
