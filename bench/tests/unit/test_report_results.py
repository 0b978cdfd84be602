"""An experiment's results as a file, and its report: whole, inert, the same every time, whatever the results."""

import json
import math
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import pytest
from experiment_cases import ROUGE, SECONDS, TOKENS, experiment, results_of
from hypothesis import given
from hypothesis import strategies as st
from judge_doubles import ScriptedGrader, ScriptedSupportJudge
from markdown_it import MarkdownIt
from strategies import HOSTILE

from storm_bench.calibration import Calibration, CalibrationRow, known_calibrations
from storm_bench.errors import ExperimentError
from storm_bench.judges.model_judge import open_judge
from storm_bench.metrics.base import Measure
from storm_bench.metrics.citations import support_errors
from storm_bench.metrics.grades import wikigen_quality
from storm_bench.reporting import (
    ExperimentResults,
    JudgedMeasures,
    Report,
    Result,
    judges_of,
    load_results,
    save_results,
    topic_means,
    write_report,
)

KNOWN = known_calibrations()

TEXTS = st.sampled_from(HOSTILE) | st.text(st.characters(codec="utf-8"), max_size=8)
VALUES = st.none() | st.floats() | st.integers(-(2**40), 2**40).map(float)
RESULTS = st.builds(
    Result,
    method=TEXTS,
    topic=TEXTS,
    seed=st.integers(0, 3),
    values=st.dictionaries(TEXTS, VALUES, max_size=3),
    failure=TEXTS,
)
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
PARAMETERS = st.dictionaries(TEXTS, TEXTS | st.integers(0, 9) | NUMBERS, max_size=3)
ROWS = st.builds(CalibrationRow, task=TEXTS)  # all else is inferred
CALIBRATIONS = st.builds(Calibration, TEXTS, PARAMETERS, st.lists(ROWS, max_size=2).map(tuple))
JUDGED = st.builds(JudgedMeasures, st.lists(TEXTS, max_size=2).map(tuple), TEXTS, PARAMETERS, st.none() | CALIBRATIONS)
EXPERIMENTS = st.builds(
    ExperimentResults,
    title=TEXTS,
    results=st.lists(RESULTS, max_size=4, unique_by=lambda r: (r.method, r.topic, r.seed)).map(tuple),
    measures=st.lists(st.builds(Measure, name=TEXTS), max_size=3, unique_by=lambda m: m.name).map(tuple),
    baseline=TEXTS,
    facts=st.dictionaries(TEXTS, TEXTS, max_size=2),
    calibrations=st.lists(JUDGED, max_size=2).map(tuple),
    notes=st.lists(TEXTS, max_size=2).map(tuple),
)


@given(EXPERIMENTS)
def test_results_survive_a_round_trip(results: ExperimentResults) -> None:
    with TemporaryDirectory() as folder:
        first, second = Path(folder) / "results.json", Path(folder) / "again.json"
        save_results(first, results)
        read = load_results(Path(folder))
        save_results(second, read)
        assert repr(read) == repr(results)  # NaN is not equal to itself, but it looks the same
        assert second.read_bytes() == first.read_bytes()
        json.loads(first.read_text(encoding="utf-8"), parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


@pytest.mark.parametrize("make", [lambda path: path.symlink_to(__file__), os.mkfifo])
def test_a_link_or_a_pipe_is_not_read(tmp_path: Path, make: Any) -> None:
    make(tmp_path / "results.json")
    with pytest.raises(ExperimentError, match=r"cannot read .*: it is a (link|pipe)"):
        load_results(tmp_path)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is not valid JSON"),
        ("\udcff", "is not valid JSON"),  # no UTF-8
        ('{"format": 1, "title": ', "is not valid JSON"),
        ("[" * 100_000, "is not valid JSON"),
        ("[]", "is not a results file"),
        ('{"title": "x"}', "is not a results file"),
        ('{"format": true}', "is not a results file"),
        ('{"format": 2, "new": 1}', "reads up to 1: update"),
        ('{"format": 1}', "damaged at title: Field required"),
        (
            '{"format": 1, "title": "t", "results": [{"method": "a"}], "measures": [], "baseline": "a"}',
            "results/0/topic",
        ),
        ('{"format": 1, "title": "t", "results": [], "measures": [], "baseline": "a", "x": 1}', "damaged at x"),
    ],
)
def test_damage_is_reported(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(content, encoding="utf-8", errors="surrogateescape")
    with pytest.raises(ExperimentError, match=told) as raised:
        load_results(path)
    assert str(path) in str(raised.value)


def test_an_absent_file_and_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(ExperimentError, match="cannot read"):
        load_results(tmp_path)
    with pytest.raises(ExperimentError, match="cannot write"):
        save_results(tmp_path / "absent" / "results.json", experiment())


def test_duplicates_are_rejected(tmp_path: Path) -> None:
    twice = Result("direct", "topic", 0)
    with pytest.raises(ValueError, match="occurs 2 times"):
        ExperimentResults("a", (twice, twice), (), "direct")
    with pytest.raises(ValueError, match="'m': it occurs 2 times"):
        ExperimentResults("a", (), (Measure("m"), Measure("m")), "direct")
    save_results(tmp_path / "results.json", ExperimentResults("a", (twice,), (), "direct"))
    content = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    content["results"] *= 2
    (tmp_path / "results.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(ExperimentError, match="damaged at the top level"):
        load_results(tmp_path)


def test_a_topic_counts_once_whatever_its_seeds() -> None:
    rows = (
        Result("storm", "a", 0, {"m": 1.0}),
        Result("storm", "a", 1, {"m": 3.0}),
        Result("storm", "b", 0, {"m": 5.0}),
        Result("storm", "b", 1, {"m": None}),
        Result("storm", "c", 0, {"m": math.nan}),
        Result("storm", "d", 0, {"m": math.inf}),
        Result("storm", "e", 0, {"m": 9.0}, failure="lost"),
        Result("direct", "a", 0, {"m": 7.0}),
    )
    results = ExperimentResults("a", rows, (Measure("m"),), "direct")
    assert topic_means(results, "storm", "m") == {"a": 2.0, "b": 5.0}
    assert results.methods == ("storm", "direct")
    assert results.topics == ("a", "b", "c", "d", "e")


def test_a_models_measures_do_not_get_the_support_judges_calibration() -> None:
    model = open_judge("openai/fake@http://127.0.0.1:9/v1")
    support, errors = judges_of(
        support_errors(ScriptedSupportJudge(lambda passage, claim: 1.0), model), {"judge": KNOWN[0]}
    )
    assert (support.measures, support.judge, support.calibration) == (("unsupported",), "test double", KNOWN[0])
    assert (errors.measures[0], errors.judge, errors.calibration) == ("error_uncited", "openai/fake", None)
    writing, rest = judges_of(wikigen_quality(model, ScriptedGrader(lambda _: 3)))
    assert (writing.measures, writing.judge) == (("fluency_0_5", "informativeness_0_5"), "openai/fake")
    assert (rest.measures[0], rest.judge) == ("outline_0_5", "test double")


SVG = "{http://www.w3.org/2000/svg}"

NASTY = ["a | b", "<script>alert(1)</script>", "line\nline", "$\\frac{", "[x](javascript:x)", "雪\x00 `c`", *HOSTILE]

ALCE = Measure("citation_recall_alce")


def check_markdown(text: str) -> None:
    """Every row of a table has the cells of its head, and nothing of the texts became markup."""
    for block in text.split("\n\n"):
        if block.startswith("| "):
            rows = {len(re.split(r"(?<!\\)(?:\\\\)*\|", line)) for line in block.splitlines()}
            assert len(rows) == 1, block
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inline = [child for token in tokens for child in token.children or []]
    assert {token.type for token in [*tokens, *inline]} & {"html_block", "html_inline", "link_open"} == set()
    assert {token.type for token in tokens} & {
        "bullet_list_open",
        "ordered_list_open",
        "blockquote_open",
        "fence",
    } == set()
    assert all(str(child.attrs["src"]).startswith("plots/") for child in inline if child.type == "image")


def check_plot(svg: str) -> None:
    """A drawing is well-formed, and no text of the results became an element or an address in it."""
    drawn = [element for element in ElementTree.fromstring(svg).iter() if element.tag.startswith(SVG)]
    tags = {element.tag.removeprefix(SVG) for element in drawn}
    assert tags <= {"svg", "g", "defs", "path", "use", "rect", "clipPath", "text", "style", "title", "metadata"}
    given = [(key, value) for element in drawn for key, value in element.items()]
    assert not [key for key, _ in given if key.startswith("on")]
    assert all(value.startswith("#") for key, value in given if key.endswith("href"))
    assert all(value.startswith("url(#") for _, value in given if "url" in value)


def nasty(names: Sequence[str]) -> ExperimentResults:
    a, b, c = names
    return ExperimentResults(
        a,
        (
            Result(a, b, 0, {"rouge_1": 0.5, c: 1.0, "seconds": 3.0, "tokens_in": 1, "tokens_out": 1}),
            Result(f"{a} too", b, 0, {"rouge_1": 0.75, c: 2.0, "seconds": 5.0, "tokens_in": 9, "tokens_out": 1}),
            Result(b, c, 7, {}, c),
        ),
        (ROUGE, SECONDS, *TOKENS, Measure(c)),
        a,
        {b: c},
        (JudgedMeasures((c,), a, {b: c}),),
        (a, b),
    )


@pytest.mark.parametrize("place", range(0, len(NASTY), 3))
def test_hostile_names_stay_text(place: int) -> None:
    names = [NASTY[(place + step) % len(NASTY)] for step in range(3)]
    report = Report(nasty(names))
    check_markdown(report.markdown())
    for figure in (own for table in report.tables for own in report.figures(table)):
        check_plot(figure.svg)


def test_the_written_files(tmp_path: Path) -> None:
    paths = write_report(tmp_path / "report", experiment())
    assert [str(path.relative_to(tmp_path / "report")) for path in paths] == [
        "results.json",
        "report.md",
        "plots/difference-rouge-1.svg",
    ]
    text = paths[1].read_text(encoding="utf-8")
    assert "3 methods on 4 topics: 12 of 12 articles written." in text
    assert "## Article quality (as STORM, Table 2)" in text
    assert re.search(r"\| storm \| \*\*0\.500\*\* \\\[0\.\d{3}, 0\.\d{3}\\\] \(4\) \|", text)
    assert "| storm | rouge_1 ↑ | +0.250 " in text
    assert "![rouge_1: differences from direct." in text
    assert "](plots/difference-rouge-1.svg)" in text
    assert "| topic-2 | storm | 0.600 |" in text
    assert "| model | none |" in text
    assert "## Failures" not in text
    check_markdown(text)
    for path in paths[2:]:
        check_plot(path.read_text(encoding="utf-8"))


def test_no_file_of_the_current_folder_says_how_plots_look(tmp_path: Path) -> None:
    write_report(tmp_path / "a", experiment())
    os.mkfifo(tmp_path / "matplotlibrc")
    again = (
        "from storm_bench.reporting import load_results, write_report; write_report(Path('b'), load_results(Path('a')))"
    )
    code = f"from pathlib import Path\n{again}"
    subprocess.run([sys.executable, "-P", "-c", code], cwd=tmp_path, check=True, timeout=120)
    assert (tmp_path / "b" / "plots").is_dir()


def test_a_report_made_again_from_its_own_file_is_the_same_to_the_byte(tmp_path: Path) -> None:
    first = write_report(tmp_path / "a", experiment())
    (tmp_path / "b" / "plots").mkdir(parents=True)
    (tmp_path / "b" / "plots" / "cost-gone.svg").write_text("of an earlier report")
    (tmp_path / "b" / "plots" / "mine.svg").write_text("not of a report")
    second = write_report(tmp_path / "b", load_results(tmp_path / "a"))
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert {path.name for path in (tmp_path / "b" / "plots").iterdir()} == {"difference-rouge-1.svg", "mine.svg"}


def test_when_all_failed_the_failures_are_the_report() -> None:
    text = Report(results_of({"direct": ["no model", "no model"], "storm": ["no\n| model", "x" * 999]})).markdown()
    assert "2 methods on 2 topics: 0 of 4 articles written." in text
    assert "No article has a value, so there is no table." in text
    assert "| storm | 2 | 0 | 2 |" in text
    assert "| topic-0 | storm | 0 | no \\| model |" in text
    assert f"{'x' * 400} … |" in text
    assert "plots/" not in text


def test_seeds_are_shown_where_there_are_several() -> None:
    rows = tuple(Result("direct", "a", seed, {"rouge_1": 0.1 * seed}) for seed in (2, 1))
    text = Report(ExperimentResults("Seeds", rows, (ROUGE,), "direct")).markdown()
    assert "| topic | method | seed | rouge_1 ↑ |" in text
    assert text.index("| a | direct | 1 | 0.100 |") < text.index("| a | direct | 2 | 0.200 |")
    assert "| direct | 0.150 (1) |" in text


def test_judges_are_shown_beside_the_scores() -> None:
    values = {"direct": [{"citation_recall_alce": 0.5, "interest": 3.0}], "rr": [{"citation_recall_alce": 0.7}]}
    known = JudgedMeasures(("citation_recall_alce",), "screen:all-MiniLM-L6-v2", KNOWN[0].parameters, KNOWN[0])
    other = JudgedMeasures(("organisation",), "lm:x")
    measures = (ALCE, Measure("interest", 1, 5), Measure("organisation", 1, 5))
    values["rr"][0]["organisation"] = 2.0
    text = Report(results_of(values, measures, calibrations=(known, other))).markdown()
    article, citations = (
        text.split(f"## {title}")[1].split("### ")[0] for title in ("Article quality", "Citation qual")
    )
    assert "interest: the judge is not recorded, so its calibration is unknown." in article
    assert "organisation: judged by lm:x, which is not calibrated" in article
    assert "experts (383 pairs): AUC 0.66 (0.58–0.72), balanced accuracy 0.63 (0.57–0.69)" in citations
    assert "Always saying yes gives 0.50 for both" in citations
    assert "| experts | 383 | 74% | 0.66 (0.58–0.72) |" in text.split("## The judges")[1]
    assert "threshold 0.5" in text.split("## The judges")[1]


def test_measures_without_shared_topics_are_named_instead_of_plotted() -> None:
    values = {
        "direct": [{"heading_soft_recall": 0.5, "heading_entity_recall": 0.5}, {}],
        "rr": [{"heading_soft_recall": 0.7}, {"heading_entity_recall": 0.5}],
    }
    measures = (Measure("heading_soft_recall"), Measure("heading_entity_recall"))
    text = Report(results_of(values, measures)).markdown()
    assert "plots/difference-heading-soft-recall.svg" in text
    assert "No plot of heading_entity_recall: no method has a topic in common with direct." in text


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ExperimentError, match="cannot create the folder"):
        write_report(tmp_path / "file", experiment())
