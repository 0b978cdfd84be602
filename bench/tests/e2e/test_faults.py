"""The fault bench in short: runs failed, hung, short of space, or side by side."""

import dataclasses
from pathlib import Path

import pytest

from storm_benchmarks.faults.calls import disagreements
from storm_benchmarks.faults.command import Ended
from storm_benchmarks.faults.disks import (
    deleted_after,
    output_full,
    over_quota,
    read_only_from_the_start,
    unreadable,
    wrong_failure,
)
from storm_benchmarks.faults.kills import Whole
from storm_benchmarks.faults.kinds import KINDS, OK, Plan, Sent, sent_for
from storm_benchmarks.faults.lab import TOPIC, Lab, dangling
from storm_benchmarks.faults.replies import Outcome, crowd, hung
from storm_pipeline.run.events import Failed, Retried


@pytest.fixture(scope="module")
def failed(place: Lab) -> Outcome:
    """Replies of 10 MB arrive in time on a busy machine too."""
    return crowd(dataclasses.replace(place, lm_timeout=4.0, search_timeout=4.0), "failing", 3, seed=3)


def test_runs_side_by_side_tell_every_fault_of_their_server_once_and_nothing_else(failed: Outcome) -> None:
    assert failed.problems == [], failed.problems
    assert len(failed.articles) == 3
    assert failed.faults > 10


def test_a_fault_that_is_not_reported_or_made_up_is_noticed(failed: Outcome) -> None:
    events, articles = failed.events, failed.articles
    retried = next(event for event in events if isinstance(event, Retried))
    assert disagreements(failed.log, [event for event in events if event is not retried], articles)
    assert disagreements(failed.log, [*events, retried], articles)
    assert disagreements(failed.log, [*events, Failed("sections", "no reason")], articles)
    assert disagreements(failed.log[1:], events, articles)


def test_what_dangles_is_noticed(failed: Outcome) -> None:
    article = failed.articles[0]
    assert dangling(article) == []
    cited = next(
        citation.source_id for section in article.sections for one in section.sentences() for citation in one.citations
    )
    others = tuple(source for source in article.sources if source.id != cited)
    assert dangling(dataclasses.replace(article, sources=others, lead=()))
    assert dangling(dataclasses.replace(article, sections=()))


def test_a_model_that_never_answers_is_named_within_the_time_outs(place: Lab) -> None:
    hasty = dataclasses.replace(place, lm_timeout=0.3)
    assert hung(hasty, "hung-model", search=False).problems == []


def test_a_search_engine_that_never_answers_is_named_within_the_time_outs(place: Lab) -> None:
    hasty = dataclasses.replace(place, search_timeout=0.1)
    assert hung(hasty, "hung-engine", search=True).problems == []


def test_files_that_may_not_grow_end_a_run_that_can_go_on(place: Lab, whole: Whole) -> None:
    assert over_quota(place, "quota", whole.largest // 2, whole) == []


def test_a_result_that_cannot_be_printed_is_kept(place: Lab, whole: Whole) -> None:
    assert output_full(place, "output", whole) == []


def test_a_folder_that_may_not_be_written_is_named(place: Lab) -> None:
    assert read_only_from_the_start(place, "closed") == []


def test_a_file_that_may_not_be_read_is_named(patient: Lab, whole: Whole) -> None:
    assert unreadable(patient, "unreadable", whole, ("settings.json", "journal.jsonl", "events.jsonl")) == []


def test_a_run_whose_folder_is_deleted_ends_with_a_word(place: Lab, whole: Whole) -> None:
    assert deleted_after(place, "deleted", whole.asked.total() // 2) == []


@pytest.mark.parametrize("said", ["", "error: one\nerror: two", "error: unexpected fault: 'x'", "Traceback …"])
def test_a_command_that_fails_with_other_words_is_noticed(said: str) -> None:
    assert wrong_failure(Ended(1, "", said, 0.0), "No space left")
    assert wrong_failure(Ended(0, "", "error: cannot write x: No space left on device", 0.0), "No space left")
    assert not wrong_failure(Ended(1, "", "error: cannot write x: No space left on device", 0.0), "No space left")


def test_faults_are_drawn_anew_for_each_call_and_alike_for_each_run() -> None:
    plan = Plan(share=0.3)
    drawn = [plan.drawn(f"{key}", attempt, search=False)[0] for key in range(2000) for attempt in (0, 1)]
    again = [plan.drawn(f"{key}", attempt, search=False)[0] for key in range(2000) for attempt in (0, 1)]
    assert drawn == again
    assert set(drawn) == {OK, *KINDS}
    assert 0.27 < sum(fault != OK for fault in drawn) / len(drawn) < 0.33
    assert {plan.drawn(f"{key}", 0, search=True)[0] for key in range(200)} == {OK}


def test_a_reply_of_no_use_is_none_for_its_prompt() -> None:
    body = {"choices": [{"message": {"role": "assistant", "content": "Who came first?"}}]}
    seen = {fault: sent_for(fault, "question", body) for fault in KINDS if fault != "time-out"}
    assert all(isinstance(sent, Sent) and b'Who came first?"' not in sent.data for sent in seen.values())
    assert len(seen["10 MB"].data) > 10_000_000
    assert TOPIC not in seen["500"].data.decode()


def test_the_log_on_the_disk_holds_every_call(place: Lab, failed: Outcome) -> None:
    path = Path(place.folder / "calls.jsonl")
    assert sum('"run": "failing"' in line for line in path.read_text(encoding="utf-8").splitlines()) == len(failed.log)
