"""Batches on Ray's simulation of a cluster: nodes and drivers that die."""

import json
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llm import FakeModel
from test_batch import TOPICS, offline, texts
from test_batch_workers import DRIVER, IN_FLIGHT, at, calls, child, pids, require_end, whole

from storm_pipeline.interfaces.batch import BatchReport, resume_batch

__all__ = ["whole"]  # a fixture


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A head that writes nothing, and two nodes with a CPU each."""
    from ray.cluster_utils import Cluster

    with tempfile.TemporaryDirectory(prefix="r") as folder, pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", folder)
        patch.setenv("RAY_AUTH_TOKEN", "0123456789abcdef" * 3)
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        few = {"object_store_memory": 80 * 2**20}
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **few})
        try:
            for _ in range(2):
                made.add_node(num_cpus=1, **few)
            yield made
        finally:
            made.shutdown()


def spread(cluster: Any, server: FakeModel, tmp_path: Path) -> tuple[int, Path]:
    """Write a batch on the cluster by a driver in another process; return its exit status and the batch's folder."""
    driver = drivers[tmp_path] = child(
        DRIVER, cluster.address, server.lm, tmp_path / "runs", tmp_path / "cache", *TOPICS[:3]
    )
    _, complaint = driver.communicate(timeout=300)
    assert driver.returncode in {0, -signal.SIGKILL}, complaint
    (folder,) = (tmp_path / "runs").iterdir()
    return driver.returncode, folder


drivers: dict[Path, Any] = {}


def test_workers_on_nodes_end_with_a_killed_driver(cluster: Any, whole: BatchReport, tmp_path: Path) -> None:
    def kill() -> None:
        drivers[tmp_path].kill()

    with FakeModel(at("Salt Road", kill)) as server:
        status, folder = spread(cluster, server, tmp_path)
        assert status == -signal.SIGKILL
        require_end(pids(tmp_path))
        report = resume_batch(folder, open_storm=offline, lm=server.lm)
        assert 0 <= len(server.asked) - calls(whole) <= IN_FLIGHT
    assert texts(report) == texts(whole)


def test_topics_of_a_killed_node_go_on_on_others(cluster: Any, whole: BatchReport, tmp_path: Path) -> None:
    def kill() -> None:
        cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)

    with FakeModel(at("Amber Road", kill)) as server:
        status, folder = spread(cluster, server, tmp_path)
        assert status == 0
        assert 0 <= len(server.asked) - calls(whole) <= IN_FLIGHT
    assert texts(resume_batch(folder)) == texts(whole)
    sessions = sorted(json.loads(path.read_text("utf-8"))["sessions"] for path in folder.glob("*/run.json"))
    assert sessions == [1, 1, 2]
