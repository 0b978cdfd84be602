"""Batches on several processes, and on Ray's simulation of a cluster of several nodes.

    python -m storm_benchmarks.scale processes [--processes 1 2] [--embedder stub]   # CPU a topic, wall time, memory
    python -m storm_benchmarks.scale nodes [--nodes 1 4]        # topics a minute; one node killed and one added; a cap

The language model, a server on loopback, replies after ``--seconds``, and each topic takes about 40 calls of it. A node
of the cluster is a Ray node of this machine with ``--slots`` CPUs, so throughput is linear only while the machine's own
CPUs suffice. A node is killed, and another one added, when half of the topics are written. Calls paid twice are those
that the server has answered beyond those on record. The cap is half of what the batch would cost; overshoot is what was
spent beyond it.
"""

import argparse
import os
import resource
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from storm_benchmarks.faults.kinds import Plan
from storm_benchmarks.faults.server import FaultBench, serving
from storm_benchmarks.shared import options, print_table
from storm_pipeline import Settings, Storm
from storm_pipeline.evidence.retrieval.embedder import HashingEmbedder
from storm_pipeline.interfaces.batch import BatchReport, TopicStatus, open_executor, write_batch
from storm_pipeline.run.concurrency import tune_process
from storm_pipeline.sources.engines.searxng import searxng
from storm_pipeline.sources.search.base import NoContents
from storm_pipeline.sources.search.web_service import WebServiceSearch

_PRICE = "openai/bench=100/100"  # dollars per million tokens
_STORE_BYTES = 100 * 2**20  # shared memory of a node


def open_stub(settings: Settings) -> Storm:
    """Open a Storm on the server that the settings' model is on, without an encoder."""
    return _open(settings, embedder=HashingEmbedder())


def open_real(settings: Settings) -> Storm:
    """Open a Storm on that server with the sentence encoder."""
    return _open(settings)


def _open(settings: Settings, **given: Any) -> Storm:
    place = settings.lm_of("writer").partition("@")[2].removesuffix("/v1")
    return Storm(settings, search=WebServiceSearch(searxng(place), rate=1000.0), contents=NoContents(), **given)


@dataclass(frozen=True)
class _Bed:
    bench: FaultBench
    folder: Path
    args: argparse.Namespace

    def write(self, run: str, executor: Any, **given: Any) -> tuple[BatchReport, float]:
        """Write the batch of a run; return its report and wall time."""
        self.bench.plan(run, Plan(latency=(self.args.seconds, self.args.seconds)))
        settings = {
            "lm": self.bench.lm(run),
            "perspectives": self.args.perspectives,
            "turns": self.args.turns,
            "process_workers": 256,
            "prices": (_PRICE,),
            "out": self.folder / run,
            "cache": self.args.cache,
            "source_policy": "any",
            "read_pages": "never",
        }
        module = import_module("storm_benchmarks.scale")  # not __main__, which workers cannot import
        open_storm = getattr(module, f"open_{self.args.embedder}")
        start = time.monotonic()
        topics = [f"Road {number}" for number in range(1, self.args.topics + 1)]
        report = write_batch(topics, executor=executor, open_storm=open_storm, **settings, **given)
        return report, time.monotonic() - start

    def paid_twice(self, run: str, report: BatchReport) -> int:
        """Return the model's replies beyond those on record."""
        served = sum(line.kind != "search" and line.whole for line in self.bench.log(run))
        return served - sum(row.calls for row in report.rows)


def main() -> None:
    """Measure and print Markdown tables."""
    parser = options(__doc__, "cache")
    parser.add_argument("what", choices=["processes", "nodes", "one"])
    parser.add_argument("--topics", type=int, default=24)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--nodes", type=int, nargs="+", default=[1, 4])
    parser.add_argument("--slots", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=2.0, help="of a reply")
    parser.add_argument("--perspectives", type=int, default=2)
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--embedder", choices=["real", "stub"], default="stub")
    args = parser.parse_args()
    tune_process()
    with tempfile.TemporaryDirectory(prefix="s") as folder, serving(Path(folder) / "calls.jsonl") as bench:
        bed = _Bed(bench, Path(folder), args)
        if args.what == "one":
            with open_executor(processes=args.processes[0], at_once=args.at_once) as executor:
                print(bed.write("one", executor)[0].all_written)
        elif args.what == "processes":
            _measure_processes(args)
        else:
            _measure_nodes(bed)


def _measure_processes(args: argparse.Namespace) -> None:
    rows = []
    for number in args.processes:
        same = [f"--{name.replace('_', '-')}={value}" for name, value in vars(args).items() if name not in _OWN]
        command = [sys.executable, "-m", "storm_benchmarks.scale", "one", *same, "--processes", str(number)]
        before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            most = _peak_memory(process)
            assert process.stdout is not None
            written = process.stdout.read().strip()
        wall, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        rows.append((number, written, f"{wall:.0f}", f"{cpu / args.topics:.1f}", f"{most / 1e6:.0f}"))
    print_table(("processes", "all written", "wall s", "CPU s a topic", "memory MB"), rows)


_OWN = {"what", "processes", "nodes"}


def _peak_memory(process: "subprocess.Popen[str]") -> int:
    """Return the most bytes that a process and those below it have had together, the server left out."""
    most = 0
    while process.poll() is None:
        bytes_now = 0
        for one in [root := psutil.Process(process.pid), *root.children(recursive=True)]:
            try:
                bytes_now += 0 if "storm_benchmarks.faults.server" in one.cmdline() else one.memory_info().rss
            except psutil.Error:
                continue
        most = max(most, bytes_now)
        time.sleep(0.5)
    return most


def _measure_nodes(bed: _Bed) -> None:
    args, rows, cost = bed.args, [], 0.0
    for number in args.nodes:
        with _cluster(number, args.slots) as (cluster, executor):
            report, wall = bed.write(f"nodes{number}", executor)
            cost = sum(row.cost or 0 for row in report.rows)
            rows.append(_row(bed, f"{number} nodes", f"nodes{number}", report, wall))
    number = max(args.nodes)
    with _cluster(number, args.slots) as (cluster, executor):
        half = _Half(args.topics // 2)
        with ThreadPoolExecutor(1) as pool:
            writing = pool.submit(bed.write, "killed", executor, sinks=[half])
            half.written.wait()
            cluster.remove_node(next(iter(cluster.worker_nodes)), allow_graceful=False)
            _add_node(cluster, args.slots)  # Ray starts nodes in the main thread only
        report, wall = writing.result()
        rows.append(_row(bed, f"{number} nodes, one killed and one added", "killed", report, wall))
    with _cluster(number, args.slots) as (cluster, executor):
        cap = cost / 2
        report, wall = bed.write("cap", executor, batch_max_cost=cap)
        spent = sum(row.cost or 0 for row in report.rows)
        rows.append(_row(bed, f"{number} nodes, cap {cap:.2f}: overshoot {spent - cap:+.3f}", "cap", report, wall))
    print_table(("run", "written", "wall s", "topics a minute", "calls", "paid twice"), rows)


def _row(bed: _Bed, name: str, run: str, report: BatchReport, wall: float) -> tuple[object, ...]:
    written = sum(row.state == "written" for row in report.rows)
    calls = sum(row.calls for row in report.rows)
    return name, written, f"{wall:.0f}", f"{60 * written / wall:.2f}", calls, bed.paid_twice(run, report)


class _Half:
    """A batch's sink with an event that is set when so many topics are written."""

    def __init__(self, topics: int) -> None:
        self.written, self._left = threading.Event(), topics

    def begin(self, *_: object) -> None:
        """Do nothing."""

    event = begin

    def row(self, row: TopicStatus) -> None:
        """Count a topic."""
        self._left -= row.state == "written"
        if self._left == 0:
            self.written.set()


def _add_node(cluster: Any, slots: int) -> None:
    cluster.add_node(num_cpus=slots, object_store_memory=_STORE_BYTES)


@contextmanager
def _cluster(nodes: int, slots: int) -> Iterator[tuple[Any, Any]]:
    """Start a cluster of a head, which writes nothing, and so many nodes; yield it and an executor on it."""
    os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(24))
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": _STORE_BYTES, "include_dashboard": False}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    try:
        for _ in range(nodes):
            _add_node(cluster, slots)
        with open_executor("ray", address=cluster.address) as executor:
            yield cluster, executor
    finally:
        cluster.shutdown()


if __name__ == "__main__":
    main()
