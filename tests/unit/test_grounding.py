"""Whether passages support what was written from them: citations stand, are completed, moved, or told to be missing."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import HOSTILE

from storm_pipeline.references.grounding import Claim, Grounding, Judged
from storm_pipeline.references.passages import Passage, passages
from storm_pipeline.references.verbatim import quoted_in
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.types import Sentence, Snippet

EMBED = HashingEmbedder(256).embed
DAM = Snippet(
    "https://a.org/dam",
    "Orrin Dam",
    "The Orrin Dam was built of concrete by two thousand men above the village of Lower Orrin.",
    published="2023-03-10",
)
YEARS = Snippet(
    "https://b.org/history", "History of the dam", "Work of the men on the Orrin Dam lasted from 1931 until 1936."
)
LAKE = Snippet("https://c.org/lake", "Orrin Lake", "Char live in the cold lake, which is 40 kilometres long and deep.")
GERMAN = Snippet(
    "https://d.de/see",
    "Stausee",
    "Der Stausee ist vierzig Kilometer lang und wurde von der Stadt für die Versorgung mit Strom und Wasser angelegt.",
)
STRIKE = Snippet(
    "https://e.org/strike",
    "Strike at the dam",
    "The workers at the dam went on strike last month, and the mayor of the town spoke with them in vain.",
    published="2023-03-10",
)
ALL = (DAM, YEARS, LAKE, GERMAN, STRIKE)


def judged(text: str, *cited: int, shown: tuple[Snippet, ...] = ALL, **options: int) -> Judged:
    """The judgement of a sentence that cites passages by their numbers, from 1."""
    grounding = Grounding(passages(shown), known="Orrin Dam", embed=EMBED, **options)  # type: ignore[arg-type]
    (verdict,) = grounding.judge([Claim(text, tuple(number - 1 for number in cited))])
    return verdict


def urls(verdict: Judged, shown: tuple[Snippet, ...] = ALL) -> list[str]:
    by_id = {own.id: own.url for own in shown}
    return [by_id[citation.snippet_id] for citation in verdict.sentence.citations]


def test_a_citation_that_is_supported_stands() -> None:
    verdict = judged("Two thousand men built the dam of concrete.", 1)
    assert urls(verdict) == [DAM.url]
    assert (verdict.change, verdict.problem) == ("", "")


def test_of_a_page_in_another_language_the_part_that_tells_it_is_cited_and_no_menu() -> None:
    page = ("https://d.de/alge", "Algen")
    menu = Snippet(
        *page,
        "Direkt zum Inhalt Prymnesium Parvum 2022 Orrin Institute Suche Kontakt Jobs Presse Mediathek Startseite Menü",
    )
    told = Snippet(
        *page, "Die Alge Prymnesium parvum lebt im Brackwasser, und das Institut hat sie 2022 am Damm gefunden."
    )
    other = Snippet(*page, "Das Institut wurde von der Stadt gegründet, und es liegt an einem See, der sehr tief ist.")
    for snippets in ((menu, other, told), (told, menu, other)):
        shown = Passage(" ".join(one.text for one in snippets), snippets)
        claim = Claim("The institute found the alga Prymnesium parvum at the Orrin in 2022.", (0,))
        (verdict,) = Grounding([shown], known="Orrin Dam", embed=EMBED).judge([claim])
        assert [one.snippet_id for one in verdict.sentence.citations] == [told.id]


def test_a_statement_that_runs_on_in_the_pages_next_window_cites_both() -> None:
    page = ("https://n.org/oder", "Oder")
    first = Snippet(
        *page,
        "Jan Köhler at the institute investigates how mussels survive. He is also concerned about more blooms of the "
        "alga. “We are afraid that the reduction in filtration activity will",
    )
    following = Snippet(
        *page,
        "“We are afraid that the reduction in filtration activity will favour future mass developments of Prymnesium,” "
        "he says. Licences for discharges have to be rewritten.",
    )
    said = "Köhler of the institute feared that fewer mussels would favour new mass developments of Prymnesium."
    asked = "The licences for discharges have to be rewritten."
    grounding = Grounding(passages([first, following]), known="Oder", embed=EMBED)
    both, one = (verdict.sentence for verdict in grounding.judge([Claim(said, (0,)), Claim(asked, (0,))]))
    assert {citation.snippet_id for citation in both.citations} == {first.id, following.id}
    assert [citation.snippet_id for citation in one.citations] == [following.id]


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Greer rated the album four out of five, and found that the singer's voice captures these contradictions.", 2),
        ('She said that it "came out of the gate" and captures these contradictions with ease and with fury.', 2),
        ("The voice captures these contradictions with ease and fury, and the song is 2:49 long.", 2),
        ("The voice captures these contradictions with ease and fury.", 1),
        ("The voice captures these contradictions with ease and fury, and they came out with the album at last.", 2),
        ("In 2022 critics wrote that the voice captures these contradictions with ease and fury.", 2),
        ("In 2022 the voice of the singer captures these contradictions with ease and with fury.", 1),
        ("Critics said that the voice captures these contradictions with ease and with fury.", 1),
    ],
)
def test_the_window_with_the_name_the_figure_or_the_quotation_of_a_sentence_is_cited_too(text: str, cited: int) -> None:
    page = ("https://m.org/review", "An album")
    about = "The lyrics are sharp, and the voice of the singer captures these contradictions with ease and with fury."
    windows = (
        Snippet(
            *page, "Album reviews by Vicky Greer, May 2022: rated four of five. Critics wrote this, and more came."
        ),
        Snippet(*page, f"{about} The rest of the band plays guitar and drums loudly, as in all of their songs so far."),
        Snippet(*page, "With this album, they came out of the gate at last. 1Opening2:49872Get out3:05853Cherry2:187"),
    )
    claim = Claim(text, (0,))
    shown = [Passage(" ".join(one.text for one in windows), windows)]
    (verdict,) = Grounding(shown, known="An album", embed=EMBED).judge([claim])
    assert windows[1].id in {one.snippet_id for one in verdict.sentence.citations}
    assert len(verdict.sentence.citations) == cited


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("The preschool began in 1968.", 2),
        ("The preschool was hard for Hollingsworth to keep, and began in 1967.", 1),
        ("The preschool was rated 8 out of 10 by a reviewer, whom Hollingsworth knew.", 2),
        ("It was Vallejo who said that the preschool was kept by Hollingsworth.", 2),
        ("It was Houngbedji who said that the preschool was kept by Hollingsworth.", 1),  # "HOUNGBEDJI:" stands there
        ("Hollingsworth's preschool was the church’s own.", 1),
        ("Hollingsworth least wanted to close the preschool, which a man called “one in a million”.", 2),
        ("Hollingsworth least wanted to close the church's preschool, said Dorval Carter.", 2),
    ],
)
def test_the_window_with_a_quantity_or_a_name_in_capitals_is_cited_too(text: str, cited: int) -> None:
    page = ("https://b.org/preschool", "The preschool")
    windows = (
        Snippet(*page, "HOUNGBEDJI: As she began, Hollingsworth wanted least of all to close the church's preschool."),
        Snippet(*page, "The Second-Ponce preschool first started in 1968, and now has one hundred and ten children."),
        Snippet(*page, "VALLEJO: A fair review of the city. Final score of the preschool by our reviewer: 8/10. Bye."),
        Snippet(
            *page, "A man called it “one in a million” then. It was Dorval R. Carter who came to see it in winter."
        ),
    )
    shown = [Passage(" ".join(one.text for one in windows), windows)]
    (verdict,) = Grounding(shown, known="Second-Ponce", embed=EMBED).judge([Claim(text, (0,))])
    assert len(verdict.sentence.citations) == cited


def test_a_count_of_other_things_is_not_the_count_of_a_sentence() -> None:
    page = ("https://b.org/preschool", "The preschool")
    windows = (
        Snippet(*page, "In its first garden the preschool had two children and a fence of oak, and in the next none."),
        Snippet(*page, "The preschool lost a garden to the church in a court case that went on for many a year there."),
    )
    shown = [Passage(" ".join(one.text for one in windows), windows)]
    claim = Claim("The preschool had three children in its first garden.", (0,))
    (verdict,) = Grounding(shown, known="Selby", embed=EMBED).judge([claim])
    assert [one.snippet_id for one in verdict.sentence.citations] == [windows[0].id]


def test_a_menu_is_not_cited_beside_what_tells_a_sentence() -> None:
    page = ("https://v.org/looks", "The looks")
    windows = (
        Snippet(
            *page, "Coverage Collection Details. Spring Review. Open Menu. Latest Looks. Image Archive. Mill Designers."
        ),
        Snippet(
            *page,
            "A dusty chandelier gave the background to infanta dresses, and to the tailoring that he is known for.",
        ),
        Snippet(*page, "Detail Look. View All. Review Archive Spring. Resort Ready To Wear. Discover More. Latest."),
    )
    shown = [Passage(" ".join(one.text for one in windows), windows)]
    text = "The spring review of the collection described infanta dresses and tailoring below a dusty chandelier."
    (verdict,) = Grounding(shown, known="The mill", embed=EMBED).judge([Claim(text, (0,))])
    assert [one.snippet_id for one in verdict.sentence.citations] == [windows[1].id]


def test_of_two_citations_only_the_one_that_fits_is_kept() -> None:
    text = "Two thousand men built the dam of concrete while workers went on strike."
    assert urls(judged(text, 1, 3)) == [DAM.url]


def test_a_number_that_another_passage_has_is_cited_too() -> None:
    verdict = judged("Two thousand men built the Orrin Dam of concrete from 1931 until 1936.", 1)
    assert urls(verdict) == [DAM.url, YEARS.url]
    assert (verdict.change, verdict.problem) == ("[2] cited too", "")


def test_the_writer_is_asked_about_a_number_that_a_less_similar_passage_has() -> None:
    text = "It was built of concrete above the village of Lower Orrin by two thousand until 1936."
    verdict = judged(text, 1)
    assert urls(verdict) == [DAM.url]
    assert verdict.problem == "“1936” is not in [1], but in [2]: cite that too if it supports the sentence"
    assert verdict.completed is not None
    assert urls(replace(verdict, sentence=verdict.completed)) == [DAM.url, YEARS.url]
    assert not judged(text, 1, 2).problem


def test_what_tells_of_another_subject_on_the_same_day_is_not_suggested() -> None:
    closed = Snippet(
        "https://f.org/beach", "Orrin Dam", "The ministry closed every beach of the lake behind the Orrin Dam."
    )
    hall = Snippet(
        "https://g.org/hall", "Orrin Dam", "On 12 August the mayor closed the hall behind the Orrin Dam for repairs."
    )
    verdict = judged("On 12 August the ministry closed the beaches of the lake.", 1, shown=(closed, hall))
    assert "12 August" in verdict.problem
    assert "cite that too" not in verdict.problem


def test_a_number_that_no_passage_has_is_named() -> None:
    verdict = judged("Two thousand men built the Orrin Dam of concrete until 1947.", 1)
    assert "“1947”" in verdict.problem
    assert "[1]" in verdict.problem
    assert not verdict.is_only_copied


def test_last_month_is_understood_by_the_date_of_the_page() -> None:
    assert not judged("In February 2023 the workers at the dam went on strike.", 5).problem
    assert "January 2023" in judged("In January 2023 the workers at the dam went on strike.", 5).problem
    undated = (replace(STRIKE, published=None),)
    assert judged("In February 2023 the workers at the dam went on strike.", 1, shown=undated).problem
    told = (replace(STRIKE, published=None, text=f"10 March 2023. {STRIKE.text}"),)
    assert not judged("In February 2023 the workers at the dam went on strike.", 1, shown=told).problem


def test_a_page_of_which_the_month_alone_is_known_has_it() -> None:
    shown = (replace(STRIKE, published="2023-03"),)
    assert not judged("In March 2023 a strike of the workers at the dam was told of.", 1, shown=shown).problem
    assert "April 2023" in judged("In April 2023 a strike of the workers was told of.", 1, shown=shown).problem


def test_a_passage_in_another_language_is_not_refused_for_its_words() -> None:
    verdict = judged("The reservoir was made to supply power and water.", 4)
    assert urls(verdict) == [GERMAN.url]
    assert not verdict.problem
    assert "“1999”" in judged("The reservoir was made in 1999 to supply power.", 4).problem


def test_the_passage_that_says_it_is_cited_instead_of_a_wrong_one() -> None:
    verdict = judged("Char live in the cold lake, 40 kilometres long.", 2)
    assert urls(verdict) == [LAKE.url]
    assert verdict.change == "[3] cited instead of [2]"


def test_a_sentence_without_a_citation_is_given_what_supports_it() -> None:
    verdict = judged("Char live in the cold lake, 40 kilometres long.")
    assert urls(verdict) == [LAKE.url]
    assert verdict.change == "[3] cited"


def test_a_sentence_without_a_citation_may_need_two_passages() -> None:
    text = "Two thousand men built the Orrin Dam of concrete above the village of Lower Orrin until 1936."
    assert urls(judged(text)) == [DAM.url, YEARS.url]


@pytest.mark.parametrize(
    ("cited", "told"),
    [
        ((), "it cites no passage, nor does any other passage shown"),
        ((3,), "[3] does not say this, nor does any other passage shown"),
        ((1, 3), "[1][3] do not say this, nor does any other passage shown"),
    ],
)
def test_what_nothing_supports_is_told_to_the_writer(cited: tuple[int, ...], told: str) -> None:
    verdict = judged("Penguins waltz beneath Antarctic moonlight.", *cited)
    assert not verdict.sentence.citations
    assert verdict.problem == told


def test_without_passages_every_sentence_is_a_problem() -> None:
    assert judged("The dam was built.", shown=()).problem == "no source was found for it"


def test_beside_a_citation_that_fits_one_that_may_fit_stays() -> None:
    text = "Two thousand men built the dam of concrete while workers went on strike."
    assert urls(judged(text, 1, 2)) == [DAM.url, YEARS.url]
    verdict = judged(text, 1, 2, 3)
    assert urls(verdict) == [DAM.url, YEARS.url]
    assert verdict.change == "[3] no longer cited"


def test_a_page_of_dated_items_dates_what_it_says() -> None:
    news = Snippet(
        "https://f.org/news",
        "News",
        "The men left the dam * 9/25/2022 * by Ann. The lake was opened at the dam last August * 8/31/2022 * by Bob.",
        published="2024-01-05",
    )
    assert judged("The lake at the dam was opened in August 2021.", 1, shown=(news,)).problem == ""
    assert "August 2019" in judged("The lake at the dam was opened in August 2019.", 1, shown=(news,)).problem


def test_a_long_run_of_a_passage_s_words_is_a_copy_and_a_quotation_is_none() -> None:
    text = "the old men of the valley told the young men that the river would never be free again"
    shown = (Snippet("https://v.org", "Valley", f"At the inn {text}, and nobody laughed about it."),)
    copied = judged(f"One evening {text}.", 1, shown=shown)
    assert copied.is_only_copied
    assert "[1]" in copied.problem
    assert urls(copied, shown) == ["https://v.org"]
    assert not judged(f"It is told that “{text}”.", 1, shown=shown).problem
    assert not judged(f"One evening {text}.", 1, shown=shown, longest_run=30).problem


def test_a_quotation_turns_a_doubt() -> None:
    grounding = Grounding(passages(ALL), known="Orrin Dam", embed=EMBED)
    claim = Claim("Salmonids are found there.", (0,))
    verdict = grounding.by_quotation(claim, "“Char live in the cold LAKE”")
    assert verdict
    assert {LAKE.id} <= {citation.snippet_id for citation in verdict.sentence.citations}
    assert not verdict.problem
    assert grounding.by_quotation(claim, "pike live in the lake") is None
    assert grounding.by_quotation(claim, "in the") is None
    assert grounding.by_quotation(claim, "") is None


def test_a_quotation_is_found_before_a_glued_word() -> None:
    assert quoted_in("mr reed said on wednesday", ["the dam leaks mr reed said on wednesdayhe added nothing"]) == (0,)
    assert quoted_in("so it was not", ["so it was nothing"]) == ()
    page = "The dam leaks at night. Mr Reed wrote all of it. The lake is deep and cold. Add to basket now."
    assert quoted_in("The dam leaks at night. The lake is deep and cold.", [page]) == (0,)
    assert quoted_in("The dam leaks at night. The lake is deep and warm.", [page]) == ()
    record = "of 190 MPHPath Length27.76 MilesPeak Path Width1.0 MileStarting Point34.620"
    assert quoted_in("Path Length27.76 MilesPeak Path Width1.0 MileStarting", [record]) == (0,)


@pytest.mark.parametrize(
    ("text", "stands"),
    [
        ("In nine playoff games he had a save percentage of .930 and an average of 1.86.", True),
        ("In nine playoff games he had a save percentage of .930 and an average of 1.76.", False),
        ("Playoff games brought a save percentage of .930.", False),
        ("Tigers roam zoos since 2019, lions since 2021.", False),
        ('Ellis earned praise as "a wall of ice and snow" soon.', True),
        ('Ellis won praise: "heat of cold and sun".', False),
    ],
)
def test_a_table_with_all_figures_and_a_page_with_the_quotation_support_a_sentence(text: str, stands: bool) -> None:
    told = (
        "They sang: a wall of ice and snow! Then goats went up to the ponds, where it rained on them until they left."
    )
    page = Snippet("https://f.org/1", "U18", f"U18 15 2.05 0.920 0 Ply 9 1.86 0.930 0 2019 2021. {told}")
    assert (not judged(text, 1, shown=(page, LAKE)).problem) == stands


def test_a_quotation_is_looked_for_in_what_is_cited_first() -> None:
    shown = [Passage(DAM.text, (DAM,)), Passage(f"{DAM.text} Again.", (replace(DAM, url="https://z.org", text="z"),))]
    grounding = Grounding(shown, known="", embed=EMBED)
    verdict = grounding.by_quotation(Claim("So it was.", (1,)), "built of concrete by two thousand men")
    assert verdict
    assert [citation.snippet_id for citation in verdict.sentence.citations] == [shown[1].snippets[0].id]


def test_a_copy_that_says_as_much_is_cited_with_the_passage() -> None:
    copy = replace(DAM, url="https://mirror.net/dam")
    verdict = judged("Two thousand men built the dam of concrete.", 1, shown=(DAM, copy))
    assert {citation.source_id for citation in verdict.sentence.citations} == {DAM.source_id, copy.source_id}


def test_of_a_joined_page_the_snippet_that_says_it_is_cited() -> None:
    first = Snippet("https://p.org", "P", "The dam was built of concrete. The men lived in huts beside the river.")
    second = Snippet("https://p.org", "P", "The men lived in huts beside the river. Char live in the lake.")
    verdict = judged("Char live in the lake.", 1, shown=(first, second))
    assert [citation.snippet_id for citation in verdict.sentence.citations] == [second.id]


WORDS = "dam lake char men 1931 1936 40 Orrin the of was built in 3.5% percent last month März 中 “ ” [2] —".split()
TEXTS = st.one_of(
    st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join), st.sampled_from(HOSTILE), st.text(max_size=40)
)
PAGES = st.lists(
    st.builds(
        Snippet,
        url=st.sampled_from(["https://a.org", "https://b.org/x", "corpus:n.md"]),
        title=TEXTS,
        text=TEXTS,
        published=st.sampled_from([None, "2023-03-10", "2023", "soon", ""]),
    ),
    max_size=5,
)


@given(PAGES, st.lists(st.tuples(TEXTS, st.sets(st.integers(0, 4), max_size=3)), max_size=3), TEXTS)
def test_what_is_cited_was_shown_and_nothing_fails(
    pages: list[Snippet], written: list[tuple[str, set[int]]], quotation: str
) -> None:
    shown = passages(pages)
    grounding = Grounding(shown, known="Orrin Dam", embed=EMBED)
    claims = [Claim(text, tuple(i for i in cited if i < len(shown))) for text, cited in written]
    held = {citation for passage in shown for citation in passage.citations()}
    verdicts = grounding.judge(claims)
    assert [verdict.sentence.text for verdict in verdicts] == [claim.text for claim in claims]
    for claim, verdict in zip(claims, verdicts, strict=True):
        assert set(verdict.sentence.citations) <= held
        assert len(set(verdict.sentence.citations)) == len(verdict.sentence.citations)
        assert verdict.sentence.citations or verdict.problem
        turned = grounding.by_quotation(claim, quotation)
        assert turned is None or set(turned.sentence.citations) <= held


def test_with_a_problem_go_the_passages_that_a_writer_needs_to_answer_it() -> None:
    grounding = Grounding(passages(ALL), known="Orrin Dam", embed=EMBED)
    claims = [Claim("Char live in the cold lake, which is 90 kilometres long.", (1,)), Claim("Penguins waltz.", (4,))]
    concerned = [grounding.concerned(*both) for both in zip(claims, grounding.judge(claims), strict=True)]
    assert set(concerned[0]) >= {1, 2}
    assert concerned[1][0] == 4
    assert len(concerned[1]) <= 4


ALUMNI = Snippet(
    "https://g.org/alumni", "Alumni", "Alumni of the Orrin school said that its teachers had shaped their lives."
)


@pytest.mark.parametrize(
    "other",
    [
        "The Orrin Dam is closed to visitors. Opening hours for 2025 will be announced by the town of Selby.",
        "La escuela está cerrada para los visitantes. El horario de 2025 se dará a conocer por la ciudad de Selby.",
    ],
)
def test_nothing_is_cited_for_a_year_alone(other: str) -> None:
    page = Snippet("https://h.org/visit", "Visit", other)
    verdict = judged("Alumni said in 2025 that teachers had shaped their lives.", 1, shown=(ALUMNI, page))
    assert urls(verdict, (ALUMNI, page)) == [ALUMNI.url]
    assert verdict.completed is None
    assert verdict.problem.endswith("“2025” is not in [1] nor in any other passage that speaks of the same")


def test_a_date_in_another_window_of_the_page_supports_the_sentence() -> None:
    page = (replace(STRIKE, published=None), Snippet(STRIKE.url, STRIKE.title, "Posted on 3 May 2019 by Ann Lee, 40."))
    text = "On 3 May 2019 the workers at the dam had gone on strike."
    cited = (Claim(text, (0,)), Claim(text.replace("workers", "40 workers"), (0,)))
    grounding = Grounding(passages(page[:1]), known="Orrin Dam", embed=EMBED, pages=lambda _: page)
    dated, counted = grounding.judge(cited)
    assert not dated.problem
    assert "“40”" in counted.problem


@pytest.mark.parametrize(("year", "stands"), [("2022", True), ("1931", False)])
def test_the_year_in_a_topic_dates_a_page_that_has_no_year(year: str, stands: bool) -> None:
    page = Snippet("https://n.org/fish", "Fish", "Samples from the river that were taken on 28 july showed mesitylene.")
    claim = Claim(f"Samples that were taken from the river on 28 July {year} showed mesitylene.", (0,))
    [verdict] = Grounding(passages((page,)), known="2022 river disaster", embed=EMBED).judge([claim])
    assert (not verdict.problem) is stands


def test_a_number_of_a_finding_that_the_prompt_shows_is_supported_where_it_cites_the_passage() -> None:
    shown = passages(ALL)
    told = Sentence("Some 912 workers went on strike.", shown[4].citations())
    grounding = Grounding(shown, known="Orrin Dam", embed=EMBED, findings=[told])
    right, wrong = grounding.judge(
        [Claim("Some 912 workers at the dam went on strike.", (4,)), Claim("912 char.", (2,))]
    )
    assert not right.problem
    assert wrong.problem


@pytest.mark.parametrize("text", ["The dam had a four-year strike.", "The dam had a twelve-month strike of workers."])
def test_a_number_that_is_part_of_a_word_is_not_looked_for(text: str) -> None:
    strike = replace(STRIKE, text=f"{STRIKE.text} It lasted two years and three months.")
    assert not judged(text, 1, shown=(strike,)).problem


def test_a_sentence_of_the_article_is_read_in_its_language() -> None:
    said = Passage("Hans Otto Roth und die Siebenbürger: 1,584 votes.", (DAM,))
    claim = Claim("Hans Otto Roth won 1,584 votes.", (0,))
    for source_language, problem in ((lambda _: "de", True), (lambda _: "en", False)):
        grounding = Grounding([said], known="", embed=EMBED, source_language=source_language)
        assert bool(grounding.judge([claim])[0].problem) is problem
