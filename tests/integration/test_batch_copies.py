"""Finished articles of a batch copied elsewhere: to a bucket of a server of S3 on this machine, and to a folder."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
import requests
from commands import run_storm as storm
from fsspec.implementations.local import LocalFileSystem
from servers import closed_port
from test_batch import StubStorm, refused, saved, stubbed

from storm_pipeline import Article
from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.batch import BatchReport, resume_batch, write_batch
from storm_pipeline.settings import Settings

COPIED = ("article.html", "article.json", "article.md", "references.json")


class FiledStorm(StubStorm):
    """Leaves the files of a run, of which some are the writer's own affair."""

    def write(self, topic: str, **more: Any) -> Article:
        article = super().write(topic, **more)
        for name in (*COPIED, "journal.jsonl", "events.jsonl", "settings.json", "usage.json"):
            text = article.to_json() if name == "article.json" else f"{name} of {topic}"
            (self.settings.out / topic / name).write_text(text, "utf-8")
        return article


def filed(settings: Settings) -> Any:
    return FiledStorm(settings)


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A client of a server of S3 that has one bucket, ``shelf``."""
    s3fs = pytest.importorskip("s3fs", reason="the extra 's3' installs it")
    moto = pytest.importorskip("moto.server", reason="the extra 'dev' installs it")
    import boto3

    server = moto.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    keys = {"AWS_ACCESS_KEY_ID": "reader", "AWS_SECRET_ACCESS_KEY": "hunter2xyz", "AWS_DEFAULT_REGION": "us-east-1"}
    host, port = server.get_host_and_port()
    for name, value in {**keys, "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_MAX_ATTEMPTS": "1"}.items():
        monkeypatch.setenv(name, value)
    requests.post(f"http://{host}:{port}/moto-api/reset", timeout=30).raise_for_status()  # else of an earlier test
    s3fs.S3FileSystem.clear_instance_cache()
    client = boto3.client("s3")
    client.create_bucket(Bucket="shelf")
    yield client
    s3fs.S3FileSystem.clear_instance_cache()
    server.stop()


def keys(client: Any) -> list[str]:
    return [entry["Key"] for entry in client.list_objects_v2(Bucket="shelf").get("Contents", ())]


def states(report: BatchReport) -> list[tuple[str, str]]:
    return [(row.state, row.copied) for row in report.rows]


def test_what_a_reader_needs_is_copied_once(s3: Any, tmp_path: Path) -> None:
    to = "s3://shelf/our roads/"
    report = write_batch(["Silk Road", "Bad Road"], name="roads", open_storm=filed, out=tmp_path, to=to)
    assert states(report) == [("written", to.rstrip("/")), ("failed", "")]
    place = f"our roads/{report.folder.name}/Silk Road"
    assert keys(s3) == [f"{place}/{name}" for name in COPIED]
    page = s3.get_object(Bucket="shelf", Key=f"{place}/article.html")
    assert page["ContentType"] == "text/html; charset=utf-8"
    html = page["Body"].read().decode("utf-8")
    assert "<title>Silk Road" in html
    assert "article.html of" not in html  # the file may be another's
    s3.delete_object(Bucket="shelf", Key=f"{place}/article.md")
    again = resume_batch(report.folder, open_storm=stubbed, to=to)
    assert states(again)[0] == ("written", to.rstrip("/"))
    assert f"{place}/article.md" not in keys(s3)


@pytest.mark.parametrize(
    ("bucket", "endpoint", "reason"),
    [
        ("nowhere", True, "The specified bucket does not exist"),
        ("shelf", False, "Could not connect to the endpoint URL"),
    ],
)
def test_a_copy_that_fails_is_a_row_and_is_made_when_the_batch_is_resumed(
    bucket: str, endpoint: bool, reason: str, s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closed_port() as dead, monkeypatch.context() as patch:
        if not endpoint:
            patch.setenv("AWS_ENDPOINT_URL", dead)
        report = write_batch(["Jade", "Silk"], open_storm=filed, out=tmp_path, to=f"s3://{bucket}")
    assert states(report) == [("written", "")] * 2
    assert [error.startswith(f"not copied to s3://{bucket}: {reason}") for error in report.uncopied] == [True] * 2
    assert saved(report.folder)["status"] == "failed"
    assert (report.folder / "Jade" / "article.md").read_text() == "article.md of Jade"
    with pytest.raises(SettingsError, match=f"copied to s3://{bucket}: give --to s3://{bucket}, or --to none"):
        resume_batch(report.folder, open_storm=refused)
    type(fsspec.filesystem("s3")).clear_instance_cache()  # whose endpoint is no more
    again = resume_batch(report.folder, open_storm=refused, to="s3://shelf")
    assert states(again) == [("written", "s3://shelf")] * 2
    assert (again.uncopied, len(keys(s3)), saved(report.folder)["status"]) == ((), 8, "finished")
    resume_batch(report.folder, open_storm=refused)  # nothing is left to copy
    assert states(resume_batch(report.folder, open_storm=refused, to="s3://elsewhere")) == states(again)
    assert resume_batch(report.folder, open_storm=refused, to="none").uncopied == ()


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("s3://me:hunter2xyz@shelf/roads", "must not hold a user name, password or key"),
        ("s3://${ME}:${MINE}@shelf/roads", "must not hold a user name, password or key"),
        ("https://host.example/up?X-Amz-Signature=hunter2xyz", "must not hold a user name, password or key"),
        ("s3:///roads", "write s3://bucket/prefix"),
        ("roads", "write s3://bucket/prefix"),
        ("simplecache::s3://shelf", "write s3://bucket/prefix"),
        ("memory://shelf", "write s3://bucket/prefix"),
        ("tape://shelf", "Protocol not known: tape"),
        ("gdrive://shelf", "cannot copy to gdrive://shelf: "),
    ],
)
def test_an_address_that_cannot_be_used_is_refused_before_anything_is_made(
    address: str, reason: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match=reason) as told:
        write_batch(["Jade"], open_storm=refused, out=tmp_path, to=address)
    assert "hunter2xyz" not in str(told.value)
    assert not list(tmp_path.iterdir())


def test_no_link_of_a_run_is_followed(tmp_path: Path) -> None:
    class Linking(FiledStorm):
        def write(self, topic: str, **more: Any) -> Article:
            article = super().write(topic, **more)
            (self.settings.out / topic / "article.json").unlink()
            (self.settings.out / topic / "article.json").symlink_to("journal.jsonl")
            return article

    report = write_batch(["Jade"], open_storm=Linking, out=tmp_path / "runs", to=f"file://{tmp_path}/shelf")
    assert "is a link, which" in report.rows[0].error
    assert not [path for path in (tmp_path / "shelf").rglob("*") if path.is_file()]


def test_the_next_article_does_not_wait_for_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, write = threading.Event(), FiledStorm.write
    pipe_file = LocalFileSystem.pipe_file
    monkeypatch.setattr(LocalFileSystem, "pipe_file", lambda *file: begun.wait(60) and pipe_file(*file))
    monkeypatch.setattr(
        FiledStorm, "write", lambda *run, **more: (run[1] == "Silk" and begun.set()) or write(*run, **more)
    )
    report = write_batch(["Jade", "Silk"], at_once=1, open_storm=filed, out=tmp_path, to=f"file://{tmp_path}/shelf")
    assert [len(list((tmp_path / "shelf" / report.folder.name / row.folder).iterdir())) for row in report.rows] == [
        4,
        4,
    ]


def test_the_command_copies_and_says_what_it_could_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("storm_pipeline.storm.Storm", FiledStorm)
    (tmp_path / "t.txt").write_text("Jade\nSilk\n", "utf-8")
    (tmp_path / "shelf").write_text("in the way", "utf-8")
    to = f"file://{tmp_path}/shelf"
    result = storm("batch", tmp_path / "t.txt", "--out", tmp_path / "runs", "--to", to)
    (folder,), error = (tmp_path / "runs").iterdir(), result.stderr.splitlines()[-1]
    assert error.startswith(f"error: 2 of 2 articles are not copied to {to}: ")
    assert (result.exit_code, error.endswith(f"; resume with: storm resume {folder} --to {to}")) == (1, True)
    (tmp_path / "shelf").unlink()
    monkeypatch.chdir(folder)
    again = storm("resume", ".", "--to", to)
    assert again.exit_code == 0, again.stderr
    assert sorted(path.name for path in (tmp_path / "shelf" / folder.name / "Jade").iterdir()) == list(COPIED)
