"""CONNER's data, measurement and tables with scripted models."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from cases import case, generated
from conner_doubles import (
    ScriptedDiscourse,
    ScriptedInference,
    ScriptedLogProbabilities,
    ScriptedMatching,
)
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from storm_bench.conner.evidence_source import Bm25Evidence, passage_pool
from storm_bench.conner.knowledge import Drawing, answer_prompt, irrelevant, query_prompt
from storm_bench.conner.named_models import ModelNames, Models, model_names
from storm_bench.conner.paper_claims import claims
from storm_bench.conner.perspectives import Entailment
from storm_bench.conner.report import beside_published, to_markdown
from storm_bench.conner.scoring import INTRINSIC, Record
from storm_bench.conner.study import Study
from storm_bench.conner.study_records import (
    KINDS,
    SAMPLES,
    SELECTED,
    StudySetup,
    append_records,
    fitted,
    read_records,
    read_setup,
    require_setup,
)
from storm_bench.datasets.conner import KnowledgeItem, published_scores, read_conner
from storm_bench.errors import ExperimentError
from storm_bench.metrics.conner import conner, pieces
from storm_bench.metrics.registry import open_metric
from storm_bench.metrics.resources import Resources
from storm_pipeline.cli import app
from storm_pipeline.errors import DatasetError, SettingsError
from storm_pipeline.text.words import overlap, words
from storm_pipeline.types import Article, Conversation, Perspective, Sentence, Snippet, Turn

MODELS = Models(
    inference=ScriptedInference(lambda premise, claim: Entailment(share := overlap(claim, premise, 1), 1 - share, 0.0)),
    matching=ScriptedMatching(lambda query, text: overlap(query, text, 1)),
    discourse=ScriptedDiscourse(lambda sentences: 1 / len(sentences)),
    lm=ScriptedLogProbabilities(lambda context, word: -1.0 if word in context else -3.0),
    downstream=ScriptedLogProbabilities(lambda context, word: -0.5 if word in context else -4.0),
)


class Echo:
    """Continues a prompt with words of its last question, and counts what it was asked."""

    name = "echo"

    def __init__(self) -> None:
        self.asked: list[tuple[str, Drawing]] = []

    def complete(self, prompts: Sequence[str], *, tokens: int, drawing: Drawing) -> list[str]:
        self.asked += [(prompt, drawing) for prompt in prompts]
        return [f"It is about {' '.join(words(prompt)[-5:])}." for prompt in prompts]


class Parrot(Echo):
    """Another writer."""

    name = "parrot"


class NamedLogProbabilities(ScriptedLogProbabilities):
    """Another language model."""

    name = "other"


def write_data(folder: Path, rows: int = 500) -> Path:
    for place in ("nq", "wow"):
        (folder / place / "random_testset").mkdir(parents=True)
    nq = [f"Topic {n}\twho made thing {n}\tThing {n} was made by Maker{n}. It is old.\tMaker{n}" for n in range(rows)]
    wow = [f"Hobby {n}\tHello. [SEP] I like hobby {n}.\tHobby {n} is fun.\tYes, hobby {n} is fun!" for n in range(rows)]
    (folder / "nq/random_testset/nq_test_random_testset.txt").write_text("\n".join(nq) + "\n")
    (folder / "wow/random_testset/seen_random_testset.txt").write_text("\n".join(wow) + "\n")
    views = "".join(f"Hobby {n}\t{1000 + n}\n" for n in range(rows))
    (folder / "wow/random_testset/seen_topic_pageviews.txt").write_text(views)
    values = json.dumps([float(n % 7) for n in range(rows)])
    (folder / "nq/random_testset/nq_ref_avg_coh_para").write_text(f"{values}\n6\t0\n")
    (folder / "nq/random_testset/nq_ref_avg_sent_ppl").write_text(f"[NaN, {values[1:-1]}]\n0.1\n")
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_data(tmp_path_factory.mktemp("conner"))


def study(data: Path, file: Path, lm: Echo, items: int = 9, *, answers: int = 4, models: Models = MODELS) -> Study:
    leads = file.with_name("leads.json")
    leads.write_text(json.dumps({"Silk": {"title": "Silk", "extract": "Silk is a fibre."}}))
    datasets = (read_conner(data, "nq"), read_conner(data, "wow"))
    evidence = Bm25Evidence(passage_pool((item for own in datasets for item in own), leads))
    return Study(datasets, evidence, models, lm, file, items=items, answers=answers, choices=3)


@pytest.fixture(scope="module")
def setup(data: Path, tmp_path_factory: pytest.TempPathFactory) -> StudySetup:
    return study(data, tmp_path_factory.mktemp("setup") / "records.jsonl", Echo()).setup


@pytest.fixture(scope="module")
def records(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Record, ...]:
    own = study(data, tmp_path_factory.mktemp("run") / "records.jsonl", Echo())
    assert own.run(10, lambda _: None)
    return own.records()


def test_rows_are_read_with_the_last_turn_as_query(data: Path) -> None:
    first = read_conner(data, "nq")[0]
    assert first == KnowledgeItem(
        "nq-0", "Topic 0", "who made thing 0", "Thing 0 was made by Maker0. It is old.", "Maker0", open_ended=False
    )
    dialogue = read_conner(data, "wow")[3]
    assert (dialogue.id, dialogue.query, dialogue.pageviews) == ("wow-3", "I like hobby 3.", 1003)
    assert dialogue.open_ended
    assert published_scores(data, "coherence_paragraph")[:3] == (0.0, 1.0, 2.0)
    assert published_scores(data, "perplexity")[0] is None


def test_damaged_data_are_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="put the files of CONNER's emnlp_data there"):
        read_conner(tmp_path, "nq")
    broken = write_data(tmp_path / "broken", 3)
    (broken / "nq/random_testset/nq_test_random_testset.txt").write_text("a\tb\tc\td\nonly one part\n")
    with pytest.raises(DatasetError, match="line 2: not topic, query, knowledge and answer"):
        read_conner(broken, "nq")
    (broken / "nq/random_testset/nq_ref_avg_coh_para").write_text("nothing")
    with pytest.raises(DatasetError, match="holds no list of numbers"):
        published_scores(broken, "coherence_paragraph")
    (broken / "wow/random_testset/seen_topic_pageviews.txt").write_text("a\tmany\n")
    with pytest.raises(DatasetError, match="no list of topics and page views"):
        read_conner(broken, "wow")


@pytest.mark.data
def test_the_published_rows(data_dir: Path) -> None:
    folder = data_dir / "conner_emnlp_data"
    for name in ("nq", "wow", "wow-unseen"):
        rows = read_conner(folder, name)  # type: ignore[arg-type]
        assert len(rows) == 500
        assert all("[SEP]" not in row.query for row in rows)
    assert len(published_scores(folder, "coherence_paragraph")) == 500


def test_every_kind_is_measured_once(records: tuple[Record, ...]) -> None:
    kinds = {(one.kind, one.item) for one in records}
    assert len(kinds) == len(records)
    for kind in KINDS:
        assert {(kind, f"{name}-{n}") for name in ("nq", "wow") for n in range(9)} <= kinds
    assert {(kind, f"nq-{n}") for kind in SAMPLES for n in (300, 301, 302)} <= kinds
    assert {(SELECTED, f"nq-{n}") for n in range(9)} <= kinds
    examples = {one.item for one in records if one.kind == "reference" and int(one.item[-3:].strip("-qnwo")) >= 400}
    assert len(examples) == 30


def test_scores_are_in_range_and_answers_are_where_they_were_asked(records: tuple[Record, ...]) -> None:
    for one in records:
        for name in (*INTRINSIC, "helpfulness", "validity", "f1", "exact_match", "fact_mean", "fact_max"):
            value = one.scores.get(name)
            assert value is None or -1e-9 <= value <= 1 + 1e-9, (name, value)
        number = int(one.item.rpartition("-")[2])
        assert (one.answer is not None) == (number < 4 or one.kind in SAMPLES)
        assert ("validity" in one.scores) == (one.answer is not None)
        assert len(one.random_losses) == 3
    by_kind = {one.kind: one for one in records if one.item == "nq-0"}
    assert by_kind["retrieved"].knowledge == "Thing 0 was made by Maker0. It is old."
    assert by_kind["reference"].scores["helpfulness"] == pytest.approx(1 - 0.5 / 4.0)


def test_a_study_goes_on_where_it_stopped(data: Path, tmp_path: Path, records: tuple[Record, ...]) -> None:
    lm = Echo()
    own = study(data, tmp_path / "records.jsonl", lm)
    assert not own.run(0, lambda _: None)
    assert own.run(10, lambda _: None)
    assert own.records() == records
    asked = len(lm.asked)
    again = study(data, tmp_path / "records.jsonl", lm)
    assert again.run(10, lambda _: None)
    assert len(lm.asked) == asked


def test_more_items_keep_what_does_not_rest_on_their_number(
    data: Path, tmp_path: Path, records: tuple[Record, ...]
) -> None:
    file = tmp_path / "records.jsonl"
    study(data, file, Echo()).run(10, lambda _: None)
    assert study(data, file, Echo(), items=12).run(10, lambda _: None)
    more = read_records(file)
    assert tuple(one for one in more if one.kind != SELECTED)[: len(records) - 9] == records[:-9]
    assert {one.fit for one in more if one.kind != SELECTED} == {None}
    assert study(data, file, Echo(), items=9).run(10, lambda _: None)
    assert read_records(file) == more


def test_more_answers_are_filled_in_without_new_knowledge(data: Path, tmp_path: Path) -> None:
    file, lm = tmp_path / "records.jsonl", Echo()
    study(data, file, Echo()).run(10, lambda _: None)
    assert not study(data, file, lm, answers=7).run(0, lambda _: None)
    assert study(data, file, lm, answers=7).run(10, lambda _: None)
    assert len(lm.asked) == 3 * (2 * len(KINDS) + 1)
    assert all(prompt.endswith(("Answer:", "Speaker 2:")) for prompt, _ in lm.asked)
    (tmp_path / "once").mkdir()
    once = study(data, tmp_path / "once" / "records.jsonl", Echo(), answers=7)
    once.run(10, lambda _: None)
    assert sorted(map(repr, read_records(file))) == sorted(map(repr, once.records()))
    assert study(data, file, lm, answers=2).run(10, lambda _: None)
    assert sum(one.answer is not None for one in read_records(file)) == 7 * (2 * len(KINDS) + 1) + 3 * len(SAMPLES)


UNITS = st.builds(
    Record,
    st.sampled_from(("reference", "zero-shot", SELECTED)),
    st.integers(0, 4).map("nq-{}".format),
    st.text(max_size=8),
    st.none() | st.text(max_size=4),
    st.just(dict.fromkeys((*INTRINSIC, "gain"), 0.5)),
    st.just(()),
    st.integers(0, 6),
)


@given(st.lists(UNITS, max_size=20))
def test_records_are_read_as_they_were_written_the_last_of_each_unit_and_of_the_newest_fit(
    tmp_path_factory: pytest.TempPathFactory, written: list[Record]
) -> None:
    file = tmp_path_factory.mktemp("written") / "records.jsonl"
    for one in written:
        append_records(file, [one])
    found = read_records(file) if written else ()
    last = {(one.kind, one.item): one for one in written}
    size = sum(kind != SELECTED for kind, _ in last)
    assert set(map(repr, found)) == {repr(one) for one in last.values() if one.kind != SELECTED or one.fit == size}
    assert len({(one.kind, one.item) for one in found}) == len(found)


def test_a_line_separator_within_knowledge_ends_no_record(tmp_path: Path) -> None:
    one = Record("zero-shot", "nq-0", "one\u2028two\x85three", None, {})
    append_records(tmp_path / "new" / "records.jsonl", [one])
    assert read_records(tmp_path / "new" / "records.jsonl") == (one,)
    with pytest.raises(ExperimentError, match="cannot write"):
        append_records(tmp_path / "new" / "records.jsonl" / "below", [one])


def fits(records: Sequence[Record]) -> dict[str, int | None]:
    return {one.item: one.fit for one in records if one.kind == SELECTED}


def test_demonstrations_are_chosen_anew_when_gamma_is_fitted_to_more_items(data: Path, tmp_path: Path) -> None:
    file, other = tmp_path / "records.jsonl", tmp_path / "more" / "records.jsonl"
    other.parent.mkdir()
    study(data, file, Echo()).run(10, lambda _: None)
    assert {one.item: one.fit for one in read_records(file) if one.kind == SELECTED} == {
        f"nq-{n}": 36 for n in range(9)
    }
    larger = study(data, other, Echo(), items=12)
    larger.run(10, lambda _: None)
    one = next(one for one in larger.records() if (one.kind, one.item) == ("reference", "nq-9"))
    with file.open("a") as lines:
        lines.write(json.dumps(one.to_json()) + "\n")
    assert SELECTED not in {one.kind for one in read_records(file)}
    assert study(data, file, Echo(), items=12).run(10, lambda _: None)
    assert fits(read_records(file)) == {f"nq-{n}": 48 for n in range(12)}
    assert sorted(map(repr, read_records(file))) == sorted(map(repr, larger.records()))


def test_records_of_another_setup_are_refused(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    first = study(data, file, Echo(), items=2)
    first.run(10, lambda _: None)
    before = file.read_bytes()
    assert read_setup(file) == first.setup
    other = replace(MODELS, downstream=NamedLogProbabilities(lambda context, word: -1.0))
    with pytest.raises(ExperimentError, match=r"downstream 'test double' \(now 'other'\): .*choose another --out"):
        study(data, file, Echo(), models=other).run(10, lambda _: None)
    with pytest.raises(ExperimentError, match=r"writer 'echo' \(now 'parrot'\)"):
        study(data, file, Parrot()).run(10, lambda _: None)
    assert file.read_bytes() == before
    assert study(data, file, Echo(), items=3, answers=9).setup == first.setup


def test_records_without_a_setup_are_refused(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "records.jsonl"
    own = study(data, file, Echo(), items=2)
    own.run(10, lambda _: None)
    description = file.with_name("study.json")
    for content in ("", "{}", "[1]", description.read_text().replace("40", '"forty"')):
        description.write_text(content)
        with pytest.raises(ExperimentError, match=r"does not say how records\.jsonl was measured .*another --out"):
            own.run(10, lambda _: None)
    description.unlink()
    with pytest.raises(ExperimentError, match=r"does not say how records\.jsonl was measured .*another --out"):
        own.run(10, lambda _: None)
    with pytest.raises(ExperimentError, match="another --out"):
        read_setup(file)


def test_a_setup_without_records_binds_nothing(data: Path, tmp_path: Path) -> None:
    file = tmp_path / "new" / "records.jsonl"
    assert not study(data, tmp_path / "records.jsonl", Parrot()).run(0, lambda _: None)
    assert study(data, tmp_path / "records.jsonl", Echo(), items=1).run(10, lambda _: None)
    assert read_setup(tmp_path / "records.jsonl").writer == "echo"
    (tmp_path / "new").write_text("no folder")
    with pytest.raises(ExperimentError, match="or choose another --out"):
        require_setup(file, read_setup(tmp_path / "records.jsonl"))


def test_other_data_are_another_setup(data: Path, tmp_path: Path, setup: StudySetup) -> None:
    folder = write_data(tmp_path / "other")
    rows = folder / "nq/random_testset/nq_test_random_testset.txt"
    rows.write_text(rows.read_text().replace("It is old.", "It is new.", 1))
    assert study(folder, tmp_path / "records.jsonl", Echo()).setup.texts != setup.texts
    assert study(data, tmp_path / "records.jsonl", Echo()).setup == setup


def test_samples_are_drawn_and_all_else_is_greedy(data: Path, tmp_path: Path) -> None:
    lm = Echo()
    study(data, tmp_path / "records.jsonl", lm, items=2).run(10, lambda _: None)
    assert {drawing.seed for _, drawing in lm.asked if drawing.top_p == 0.9} == {1, 2, 3, 4, 5}
    assert {drawing.top_p for _, drawing in lm.asked} == {None, 0.9}
    shots = [prompt.count("Topic: ") for prompt, _ in lm.asked if prompt.endswith("encyclopedia:")]
    assert set(shots) == {9}  # eight demonstrations and the question


def test_a_study_that_does_not_fit(data: Path, tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="at most 400 items"):
        study(data, tmp_path / "records.jsonl", Echo(), items=401)


def test_damaged_records(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="measure with `storm experiment conner run`"):
        read_records(tmp_path / "none")
    (tmp_path / "records.jsonl").write_text('{"kind": "reference"}\n')
    with pytest.raises(ExperimentError, match="cannot be read"):
        read_records(tmp_path / "records.jsonl")
    with pytest.raises(ExperimentError, match="too little was measured"):
        fitted([])


def test_uses_that_were_not_measured_are_named(records: tuple[Record, ...], setup: StudySetup) -> None:
    text = to_markdown([one for one in records if one.kind in KINDS], {}, setup)
    assert "Not measured: random demonstrations beside chosen by Q." in text
    assert "Not measured: first sample beside chosen by Q." in text


def test_the_report_says_all(records: tuple[Record, ...], data: Path, setup: StudySetup) -> None:
    views = {item.id: item.pageviews or 0 for item in read_conner(data, "wow")}
    text = to_markdown(records, views, setup)
    assert "| writer | echo |" in text
    assert "| evidence | stand-in:bm25 |" in text
    for part in ("### nq", "### wow", "Table 7", "Table 8", "Gamma, fitted", "first sample", "| claim |", "few-shot"):
        assert part in text
    beside = beside_published(
        read_conner(data, "nq"),
        published_scores(data, "coherence_paragraph"),
        published_scores(data, "perplexity")[1:],
        MODELS.discourse,
        records,
    )
    assert "not enough items" in beside  # all references have two sentences


def made(kind: str, number: int, **scores: float) -> Record:
    return Record(kind, f"nq-{number}", "k", None, scores)


def full(kind: str, number: int, **scores: float) -> Record:
    """A record with all intrinsic scores and a gain."""
    return made(kind, number, **{**dict.fromkeys((*INTRINSIC, "gain"), 0.5 + number % 7 / 100), **scores})


def test_a_claim_holds_fails_or_stays_open(setup: StudySetup) -> None:
    records = []
    for n in range(12):
        records.append(made("zero-shot", n, relevance=0.8 + n / 100, informativeness=0.9, validity=n % 2))
        records.append(made("retrieved", n, relevance=0.2, informativeness=0.1 + n / 100, validity=(n + 1) % 2))
    lines = {line.split("|")[1].strip(): line for line in claims(records, {}, setup).splitlines() if "|" in line}
    assert lines["relevance: generated above retrieved (4.3)"].endswith("| yes |")
    assert lines["informativeness: generated below retrieved (4.3)"].endswith("| no |")
    assert lines["validity: generated above retrieved (4.3)"].endswith("| open |")


def test_rows_that_the_making_of_a_study_decides_do_not_count(setup: StudySetup) -> None:
    names = ("fact_consistent", "informativeness", "relevance", "helpfulness", "gain", "coherence_sentence")
    records = []
    for n in range(12):
        records.append(made("zero-shot", n, **dict.fromkeys(names, 0.8 + n / 100)))
        records.append(made("retrieved", n, **dict.fromkeys(names, 0.2)))
    apart = {"writer": "a", "lm": "b", "matching": "ranker:x", "discourse": "momentum:x"}
    text = claims(records, {}, setup.model_copy(update=apart))
    assert text.startswith("Of 4 rows that could have failed, 3 hold, 1 do not, 0 are open.")
    assert text.count("cannot fail: retrieved") == text.count("counted twice: helpfulness") == 1
    offline = setup.model_copy(update={**apart, "lm": "a", "matching": "stand-in:cosine"})
    text = claims(records, {}, offline)
    assert text.startswith("Of 1 row that could have failed, 1 hold, 0 do not, 0 are open.")
    assert text.count("| stand-in: ") == 2
    assert text.count("| cannot fail: ") == 2


def claim_lines(items: int, setup: StudySetup) -> list[str]:
    records = []
    for n in range(items):
        records.append(made("zero-shot", n, relevance=0.8 + n / 100, coherence_sentence=0.5 + n % 2))
        records.append(made("retrieved", n, relevance=0.2, coherence_sentence=0.6))
    return claims(records, {}, setup).splitlines()


def test_an_open_claim_whose_interval_excludes_0_is_explained(setup: StudySetup) -> None:
    few = claim_lines(5, setup)
    assert few[4].endswith("0.125 | open |")
    assert "| +0.620 " in few[4]
    assert few[-1] == (
        "`open` means that the interval contains 0 or that the corrected p is 0.05 or more; in 1 of 2 rows only one of "
        "the two holds: intervals are not corrected for the number of rows and rest on other assumptions than the "
        "tests. With 5 items, the permutation test cannot give a p below 2/2^5 = 0.0625, or 0.125 after correction for "
        "2 comparisons: no difference in this table could have been significant, however large."
    )
    assert "in 0 of 2 rows" in claim_lines(12, setup)[-1]
    assert "could have been significant" not in claim_lines(12, setup)[-1]


def test_small_numbers_are_not_rounded_to_0(setup: StudySetup) -> None:
    assert claim_lines(20, setup)[4].replace("\\", "").endswith("| < 0.001 | yes |")
    records = [full(kind, n, coherence_sentence=0.01 + n / 1000) for kind in KINDS for n in range(3)]
    assert "| 0.011 [" in to_markdown(records, {}, setup).replace("\\", "")


def test_p_beside_an_interval_is_explained_for_both_uses(setup: StudySetup) -> None:
    records = []
    for n in range(5):
        records += [full("few-shot", n, relevance=0.5 + n / 100), full(SELECTED, n, relevance=0.9)]
        records += [full(kind, 300 + n, f1=0.5 + (kind != SAMPLES[0]) / 10) for kind in SAMPLES]
    text = to_markdown(records, {}, setup)
    assert (
        "p is not corrected. Interval and p disagree on relevance: they rest on different assumptions. With 5 items, "
        "the permutation test cannot give a p below 2/2^5 = 0.0625: no difference in this table could have been "
        "significant, however large."
    ) in text
    assert "Student's t up to 12 items, else BCa bootstrap" in text


def test_a_gain_of_0_is_better_than_a_loss(setup: StudySetup) -> None:
    records = [full("few-shot", n, gain=n / 10) for n in range(3)]
    for n in range(300, 303):
        records += [full(kind, n, gain=-0.5, helpfulness=0.0, f1=0.0) for kind in SAMPLES[:-1]]
        records.append(full(SAMPLES[-1], n, gain=0.0, helpfulness=0.0, f1=1.0))
    hindsight = to_markdown(records, {}, setup).partition("most helpful in hindsight")[2]
    assert "| f1 | 3 | 0.00 [0.00, 0.00] | 1.00 [1.00, 1.00] |" in hindsight.replace("\\", "")


@given(st.integers(0, 499), st.integers(1, 5))
def test_irrelevant_knowledge_is_of_other_topics_and_always_the_same(number: int, u: int) -> None:
    rows = [KnowledgeItem(f"nq-{n}", f"Topic {n % 50}", "q", f"Fact {n}.", "a", open_ended=False) for n in range(100)]
    item = KnowledgeItem(f"nq-{number}", f"Topic {number % 50}", "q", "r", "a", open_ended=False)
    found = irrelevant(item, rows, u)
    assert found == irrelevant(item, rows, u)
    assert len(set(found)) == u
    assert not {f"Fact {n}." for n in range(100) if n % 50 == number % 50} & set(found)


def test_prompts_end_where_the_text_begins() -> None:
    question = KnowledgeItem("nq-0", "Silk", "what is silk", "r", "a fibre", open_ended=False)
    remark = KnowledgeItem("wow-0", "Silk", "I like silk.", "r", "So do I.", open_ended=True)
    assert answer_prompt(question, "Silk is a fibre.").endswith("Question: what is silk\nAnswer:")
    assert answer_prompt(remark, "k").endswith("Speaker 1: I like silk.\nSpeaker 2:")
    assert query_prompt(question).endswith("Question: what is silk\nKnowledge:")
    assert "reply to the remark" in query_prompt(remark)


def test_model_names() -> None:
    assert model_names({}) == ModelNames()
    assert model_names({"lm": "gpt2"}).lm == "gpt2"
    with pytest.raises(SettingsError, match="CONNER has no model 'oracle': choose of inference, "):
        model_names({"oracle": "x"})
    with pytest.raises(SettingsError, match="CONNER has no model 'oracle'"):
        open_metric("conner", Resources(conner={"oracle": "x"}))


def test_every_section_and_answer_of_an_article_is_scored() -> None:
    article = generated({"Silk": ["Passage one.[1]", "Silk is old."], "Empty": ""}, sources=2)
    asked = Turn("What is silk?", answer=(Sentence("Passage two."), Sentence("It shines.")))
    silent = Turn("Why?")
    whole = Article(
        article.title,
        sections=article.sections,
        sources=article.sources,
        conversations=(Conversation(Perspective("weaver", "silk"), (asked, silent)),),
    )
    assert [(piece.part, piece.query) for piece in pieces(whole)] == [
        ("section", "Topic: Silk"),
        ("answer", "What is silk?"),
    ]
    metric = conner(MODELS)
    score, none = metric.score([case("", whole), case("", generated())])
    assert list(score) == [measure.name for measure in metric.measures]
    assert all(value is not None and 0 <= value <= 1 for value in score.values())
    assert score["conner_section_coherence_paragraph"] == 0.5
    assert set(none.values()) == {None}
    assert metric.score([case("", whole)])[0] == score


class Blank:
    """Finds one passage that supports nothing."""

    name = "blank"

    def __init__(self, passages: Sequence[Snippet]) -> None:
        self.passages = passages

    def find(self, query: str, k: int) -> list[str]:
        return ["%"]


def test_an_article_is_checked_against_the_evidence_that_is_given() -> None:
    whole = case("", generated({"Silk": ["Passage one.[1]", "Silk is old."]}, sources=2))
    assert conner(MODELS, Blank).parameters["evidence"] == "blank"
    assert conner(MODELS, Blank).score([whole])[0]["conner_section_fact_consistent"] == 0
    with pytest.raises(SettingsError, match="CONNER has no model 'evidence'"):
        open_metric("conner", Resources(conner={"evidence": "google"}))


def test_the_command_reads_records_and_says_where_they_are_missing(data: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    given = ["experiment", "conner", "report", "--data", str(data), "--out", str(tmp_path)]
    missing = runner.invoke(app, given)
    assert missing.exit_code == 1
    assert "records.jsonl cannot be read" in missing.output
    (tmp_path / "records.jsonl").write_text("")
    unknown_setup = runner.invoke(app, given)
    assert unknown_setup.exit_code == 1
    assert "choose another --out" in " ".join(unknown_setup.output.split())
    listed = runner.invoke(app, ["experiment", "conner", "--help"])
    assert all(name in listed.output for name in ("run", "report", "writers", "train-order"))
    unknown = runner.invoke(app, ["experiment", "conner", "run", "--data", str(data), "--model", "oracle=x"])
    assert unknown.exit_code == 2
    assert "CONNER has no model 'oracle'" in unknown.output


def test_writers_stand_side_by_side_in_a_table_and_as_curves(data: Path, tmp_path: Path) -> None:
    for lm in (Echo(), Parrot()):
        (tmp_path / lm.name).mkdir()
        assert study(data, tmp_path / lm.name / "records.jsonl", lm, answers=0).run(10, lambda _: None)
    plot, given = tmp_path / "writers.png", ["experiment", "conner", "writers"]
    folders = [str(tmp_path / name) for name in ("parrot", "echo")]
    shown = CliRunner().invoke(app, [*given, *folders, "--plot", str(plot)])
    assert shown.exit_code == 0, shown.output
    rows = [line.split(" | ")[:3] for line in shown.stdout.splitlines() if "-shot" in line]
    one = [["| parrot", "zero-shot", "9"], ["| echo", "zero-shot", "9"], ["| parrot", "few-shot", "9"]]
    assert rows == [*one, ["| echo", "few-shot", "9"]] * 2, "in the order of the folders, a table a data set"
    assert shown.stdout.splitlines()[-1] == str(plot)
    assert plot.read_bytes().startswith(b"\x89PNG")
    twice = CliRunner().invoke(app, [*given, folders[0], folders[0]])
    assert twice.exit_code == 1
    assert "two of them are by one writer (parrot, parrot)" in " ".join(twice.output.split())
    setup = tmp_path / "echo" / "study.json"
    setup.write_text(setup.read_text().replace('"words": 40', '"words": 80'))
    other = CliRunner().invoke(app, [*given, *folders])
    assert other.exit_code == 1
    assert "they differ in words" in " ".join(other.output.split())
