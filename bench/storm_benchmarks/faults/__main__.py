"""Fault injection: runs that are killed, hung, short of disk space, served with errors, or many at once.

    python -m storm_benchmarks.faults [--kills 30] [--runs 10] [--disks 10] [--topics 20] [--batches 3]
        [--log calls.jsonl]

A language model and a search engine on loopback (`server.py`) reply deterministically after 20 to
50 ms, and inject the configured faults. Prints a Markdown table and the violated expectations; the exit code is 1 if
there are any.
"""

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from storm_benchmarks.faults.disks import (
    can_mount,
    deleted_after,
    output_full,
    over_quota,
    read_only_from,
    read_only_from_the_start,
    short_of_space,
    sizes,
    unreadable,
)
from storm_benchmarks.faults.kills import SIGNALS, Recovered, Whole, interrupted_at, killed_at, moments, undisturbed
from storm_benchmarks.faults.lab import Lab, lab
from storm_benchmarks.faults.replies import crowd, failing, hung, trim_memory
from storm_benchmarks.shared import options, print_table, resident
from storm_pipeline.run.concurrency import tune_process

_GROWTH = 60.0  # maximum growth of memory from the first batch of topics to the last, in megabytes
_LIFE = 0.25  # maximum time between kills of a run that is killed repeatedly, as a share of an undisturbed run's time


class Row(NamedTuple):
    """One table row: scenario, number of runs, runs that met all expectations, figures, and violations."""

    what: str
    tried: int
    held: int
    figures: str
    problems: tuple[str, ...] = ()


def main() -> None:
    """Run every part and print the table."""
    parser = options(__doc__)
    parser.add_argument("--kills", type=int, default=30, help="number of runs killed once, and of kills of one run")
    parser.add_argument("--runs", type=int, default=10, help="number of runs of which 30 %% of all calls fail")
    parser.add_argument("--disks", type=int, default=10, help="number of runs per kind of disk failure")
    parser.add_argument("--topics", type=int, default=20, help="number of concurrent topics")
    parser.add_argument("--batches", type=int, default=3, help="number of batches, in which memory must not grow")
    parser.add_argument("--log", type=Path, help="where to save the server's log of every call")
    args = parser.parse_args()
    tune_process()
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder, lab(Path(folder)) as bench_lab:
        print_table(("what", "runs", "held", "figures"), _shown(_parts(bench_lab, args), rows))
        if args.log:
            shutil.copy(Path(folder) / "calls.jsonl", args.log)
    for row in rows:
        print(*(f"\n{row.what}: {problem}" for problem in row.problems), sep="")
    sys.exit(any(row.held < row.tried for row in rows))


def _shown(parts: Iterator[Row], rows: list[Row]) -> Iterator[tuple[object, ...]]:
    """Yield the cells of each row, which is added to the rows."""
    for row in parts:
        rows.append(row)
        yield row[:4]


def _parts(bench_lab: Lab, args: argparse.Namespace) -> Iterator[Row]:
    whole = undisturbed(bench_lab, "undisturbed")
    if args.kills:
        yield from kills(bench_lab, whole, args.kills)
        yield interrupts(bench_lab, whole, args.kills)
    if args.runs:
        yield failures(bench_lab, args.runs)
    yield no_replies(bench_lab, search=False)
    yield no_replies(bench_lab, search=True)
    if args.disks:
        yield from disks(bench_lab, whole, args.disks)
    if args.topics:
        yield topics(bench_lab, args.topics, args.batches)


def kills(bench_lab: Lab, whole: Whole, number: int) -> Iterator[Row]:
    """Yield runs killed once, at times spread over a run; then one run killed repeatedly."""
    once = [killed_at(bench_lab, f"killed-{i}", [at], whole) for i, at in enumerate(moments(number, whole))]
    yield _recovered("`kill -9` at a random moment, then `storm resume`", once)
    lives = [at * _LIFE for at in moments(number, whole, seed=1)]
    yield _recovered(f"one run, `kill -9` up to {number} times", [killed_at(bench_lab, "killed-often", lives, whole)])


def interrupts(bench_lab: Lab, whole: Whole, number: int) -> Row:
    """Return runs interrupted once, at times spread over a run, by each signal in turn."""
    spread = enumerate(moments(number, whole, seed=4))
    runs = [interrupted_at(bench_lab, f"signal-{i}", SIGNALS[i % len(SIGNALS)], at, whole) for i, at in spread]
    what = "SIGINT, SIGTERM or SIGHUP at a random moment, set-up included, then `storm resume`"
    return _row(what, runs, "exit code 130 and one line that says how to go on")


def _recovered(what: str, runs: list[Recovered]) -> Row:
    lost = [age for run in runs for age in run.lost]
    figures = (
        f"{sum(run.kills for run in runs)} kills; {sum(run.lines for run in runs)} calls, "
        f"{sum(run.repeated for run in runs)} repeated, {sum(run.in_flight for run in runs)} in flight when killed; "
        f"no reply lost that had been sent more than {max(lost, default=0) * 1000:.0f} ms before"
    )
    return _row(what, [list(run.problems) for run in runs], figures)


def failures(bench_lab: Lab, number: int) -> Row:
    """Return runs against a server that fails 30 % of LM calls and searches."""
    runs = [failing(bench_lab, f"failing-{seed}", seed) for seed in range(number)]
    pieces = sum(problem.kind == "failure" for run in runs for a in run.articles for problem in a.report.problems)
    figures = (
        f"{sum(len(run.log) for run in runs)} calls, {sum(run.faults for run in runs)} faults, each reported once; "
        f"{pieces} pieces missing, each reported"
    )
    return _row("30 % of calls and searches fail", [run.problems for run in runs], figures)


def no_replies(bench_lab: Lab, *, search: bool) -> Row:
    """A run whose language model or search engine accepts calls and never replies."""
    run = hung(bench_lab, f"hung-{search}", search=search)
    what = "search engine" if search else "language model"
    return _row(f"the {what} never answers", [run.problems], f"ended after {run.seconds:.1f} s, naming the endpoint")


def disks(bench_lab: Lab, whole: Whole, number: int) -> Iterator[Row]:
    """Yield full disks, file size limits, read-only and deleted folders."""
    spread = moments(number, whole, seed=2)
    if can_mount(bench_lab.folder):
        full = [short_of_space(bench_lab, f"full-{i}", n, whole) for i, n in enumerate(sizes(number, whole.bytes))]
        yield _row("disk full (a small file system), then some space, then resume", full)
    quota = [over_quota(bench_lab, f"quota-{i}", n, whole) for i, n in enumerate(sizes(number, whole.largest))]
    yield _row("files may not grow (a quota), then they may, then resume", quota)
    yield _row("standard output is on a full disk, then resume", [output_full(bench_lab, "output", whole)])
    yield _row("the folder of runs may not be written", [read_only_from_the_start(bench_lab, "closed")])
    closed = [read_only_from(bench_lab, f"closed-{i}", at, whole) for i, at in enumerate(spread)]
    yield _row("the run's folder becomes read-only, then not, then resume", closed)
    yield _row("one file after the other may not be read, then they may", [unreadable(bench_lab, "unreadable", whole)])
    share = whole.asked.total() / whole.seconds
    gone = [deleted_after(bench_lab, f"deleted-{i}", int(at * share)) for i, at in enumerate(spread)]
    yield _row("the run's folder is deleted", gone)


def topics(bench_lab: Lab, number: int, batches: int) -> Row:
    """Return many concurrent topics in this process while 30 % of calls and searches fail; in several batches."""
    problems, memory, written, faults, calls = [], [], 0, 0, 0
    for batch in range(batches):
        run = crowd(bench_lab, f"crowd-{batch}", number, seed=batch)
        written, faults, calls = written + len(run.articles), faults + run.faults, calls + len(run.log)
        problems.append(run.problems)
        del run
        trim_memory()
        memory.append(resident())
    grown = memory[-1] - memory[0]
    if grown > _GROWTH:
        problems[-1].append(f"memory grew by {grown:.0f} MB over {batches - 1} batches")
    figures = (
        f"{written} of {number * batches} articles, all others reported; {calls} calls, {faults} faults; "
        f"memory after each batch {', '.join(f'{size:.0f}' for size in memory)} MB; no thread left"
    )
    return _row(f"{number} topics at once, 30 % of calls and searches fail", problems, figures)


def _row(what: str, problems: list[list[str]], figures: str = "exit code 1 and one line that says why") -> Row:
    found = tuple(problem for of_run in problems for problem in of_run)
    return Row(what, len(problems), sum(not of_run for of_run in problems), figures, found)


if __name__ == "__main__":
    main()
