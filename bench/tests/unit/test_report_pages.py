"""The report's page and plots: whole, inert, the same every time, whatever the results."""

import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import pytest
from experiment_cases import ROUGE, SECONDS, TOKENS, WORDS, experiment, results_of
from markdown_it import MarkdownIt
from strategies import HOSTILE

from storm_bench.calibration import known_calibrations
from storm_bench.errors import ExperimentError
from storm_bench.metrics.base import Measure
from storm_bench.reporting import ExperimentResults, JudgedMeasures, Report, Result, load_results, write_report
from storm_bench.reporting.plots import difference_figure

KNOWN = known_calibrations()

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


def test_an_experiment_without_articles_has_a_report() -> None:
    assert "0 methods on 0 topics" in Report(ExperimentResults("Nothing", (), (), "")).markdown()


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


def test_nothing_to_draw_gives_no_plot() -> None:
    apart = results_of({"direct": [{"rouge_1": 0.1}, {}], "storm": [{}, {"rouge_1": 0.2}]})
    assert difference_figure(apart, ROUGE) is None
    far = results_of({"direct": [{"heading_soft_recall": 1.0}, {}], "rr": [{}, {"heading_soft_recall": 1.0}]})
    assert difference_figure(far, WORDS) is None


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
