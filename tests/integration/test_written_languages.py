"""Articles in German and Japanese, full of numbers and dates, partly from an English page; one number is wrong."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest
from foreign_articles import Told
from llm import FakeModel, default_answers
from test_pipeline import NoContents, markers_resolve

from storm_pipeline import Snippet, Storm
from storm_pipeline.languages import joined
from storm_pipeline.retrieval.embedder import HashingEmbedder
from storm_pipeline.search.fake import FakeSearch


@dataclass(frozen=True)
class Script:
    """An article in a language. ``wrong``: a sentence on the last fact, with ``number``, which its source lacks."""

    code: str
    topic: str
    question: str
    thanks: str
    delete: str
    headings: tuple[str, str]
    sections: tuple[tuple[Told, ...], tuple[Told, ...]]
    wrong: str
    number: str
    lead: str


GERMAN = Script(
    "de",
    "Nordbrücke",
    "Wann wurde die Nordbrücke gebaut, und was kostete sie?",
    "Vielen Dank für Ihre ausführlichen Auskünfte!",
    "löschen",
    ("Bau", "Nutzung"),
    (
        (
            Told(
                "Die Nordbrücke wurde am 3. Oktober 1990 für den Verkehr freigegeben. Fünf Jahre zuvor, am 2.9.1985, "
                "hatte Dr. Anna Weiß, die 1. Bürgermeisterin der Stadt, den Grundstein gelegt.",
                "Dr. Anna Weiß, die 1. Bürgermeisterin der Stadt, legte am 2. September 1985 den Grundstein; für den "
                "Verkehr freigegeben wurde die Brücke am 3. Oktober 1990.",
            ),
            Told(
                "Der Bau der Nordbrücke kostete 48,7 Millionen Mark und damit 1,5 Millionen Mark mehr als geplant. Das "
                "Land übernahm davon zwei Drittel.",
                "Der Bau wurde mit 48,7 Mio. Mark um 1.500.000 Mark teurer als geplant; zwei Drittel zahlte das Land.",
            ),
            Told(
                "An ihrer Stelle verkehrte seit dem 19. Jahrhundert eine Fähre. Im Jahr 1903 kam eine 2. Fähre hinzu, "
                "die bis in die 1930er Jahre fuhr.",
                "Seit dem 19. Jahrhundert hatte an dieser Stelle eine Fähre verkehrt, ab 1903 dazu eine zweite, die "
                "noch in den 1930er Jahren fuhr.",
            ),
        ),
        (
            Told(
                "In 2014 the North Bridge carried 62,400 vehicles a day, 12.5 percent of them lorries. In the same "
                "year 1.5 million people crossed it on foot or by bicycle.",
                "Im Jahr 2014 fuhren täglich 62.400 Fahrzeuge über die Brücke, davon 12,5 Prozent Lastwagen; 1,5 "
                "Millionen Menschen überquerten sie in diesem Jahr zu Fuß oder mit dem Fahrrad.",
            ),
            Told(
                "Bei einer Prüfung am 12.03.2017 fanden die Ingenieure der Stadt ca. 340 Risse in der Nordbrücke, "
                "z. B. an den Lagern. Die Ausbesserung begann im April 2018.",
                "Am 12. März 2017 fanden Ingenieure bei einer Prüfung ca. 340 Risse, z. B. an den Lagern, deren "
                "Ausbesserung im April 2018 begann.",
            ),
            Told(
                "Gesperrt war die Nordbrücke vom 1. Mai 2018 bis zum 30. September 2019. Solange fuhr eine Fähre.",
                "Vom 1. Mai 2018 bis zum 30. September 2019 war die Brücke gesperrt; solange fuhr eine Fähre.",
            ),
        ),
    ),
    "Die Fähre fuhr, solange die Brücke gesperrt war, vom 1. Mai 2018 bis zum 30. September 2016.",
    "2016",
    "Die Nordbrücke ist eine am 3. Oktober 1990 für den Verkehr freigegebene Brücke.[1]",
)
JAPANESE = Script(
    "ja",
    "北大橋",
    "北大橋はいつ建設され、費用はいくらでしたか？",
    "詳しい説明をどうもありがとうございました。",
    "削除",
    ("建設", "利用"),
    (
        (
            Told(
                "北大橋は1990年10月3日に開通した。着工は1985年9月2日で、工事にはおよそ5年を要した。",
                "1985年9月2日に着工され、およそ5年の工事を経て1990年10月3日に開通した。",
            ),
            Told(
                "北大橋の総工費は150億円で、当初の見積もりを1億5000万円上回った。その3分の2は県が負担した。",
                "見積もりを1億5000万円上回る150億円が総工費としてかかり、県が3分の2を負担した。",
            ),
            Told(
                "橋のある場所では19世紀から渡し船が運航していた。1903年には第2の渡し船が加わり、1930年代まで続いた。",
                "19世紀からこの場所にあった渡し船は、1903年に第2の船が加わり、1930年代まで運航を続けた。",
            ),
        ),
        (
            Told(
                "In 2014 the North Bridge carried 62,400 vehicles a day, 12.5 percent of them lorries. In the same "
                "year 1.5 million people crossed it on foot or by bicycle.",
                "2014年には1日に6万2400台の車が通り、その12.5%がトラックで、徒歩や自転車では150万人が渡った。",
            ),
            Told(
                "2017年3月12日の点検で、市の技術者は北大橋に約340か所のひびを見つけた。補修は2018年4月に始まった。",
                "市の技術者が2017年3月12日に点検した際、約340か所のひびが見つかり、2018年4月から補修された。",
            ),
            Told(
                "北大橋は2018年5月1日から2019年9月30日まで閉鎖された。その間は再び渡し船が運航した。",
                "閉鎖は2018年5月1日から2019年9月30日まで続き、その間は再び渡し船が運航した。",
            ),
        ),
    ),
    "閉鎖中の2018年5月1日から2016年9月30日までは渡し船が運航した。",
    "2016",
    "北大橋は1990年10月3日に開通した橋である。[1]",
)


def answers(script: Script) -> dict[str, object]:
    """A model that writes the script, citing the passages that say it, and deletes what is returned to it."""
    everything = [told for section in script.sections for told in section]

    def cited(user: str, told: Told) -> str:
        lines = re.findall(r"^(?:Passages: )?\[(\d+)\] (.*)$", user, re.M)
        start = told.source[:24]
        return next((f"{told.written}[{number}]" for number, text in lines if start in text), "")

    def text(user: str, written: list[Told]) -> str:
        return joined([sentence for told in written if (sentence := cited(user, told))], script.code)

    def deleted(user: str) -> str:
        numbers = re.findall(r"^ ?(\d+)\. ", user.partition("\nRemarks:")[2], re.M)
        return "\n".join(f"{number}: {script.delete}" for number in numbers)

    def section(user: str) -> str:
        at = script.headings.index(re.findall(r"^Section:\s+(.+)", user, re.M)[-1])
        wrong = Told(script.sections[1][-1].source, script.wrong)
        return text(user, [*script.sections[at], *([wrong] if at else [])])

    def places(user: str) -> str:
        found = re.findall(r"^(?:Findings: )?\[(\d+)\] (.*)$", user.rpartition("\nFindings:")[2].strip(), re.M)
        own = [[int(n) for n, one in found if any(told.written in one for told in of)] for of in script.sections]
        return json.dumps(
            {"places": [{"section": n, "findings": numbers} for n, numbers in enumerate(own, 1)], "same": []}
        )

    outline = json.dumps({"sections": [{"title": title, "subsections": []} for title in script.headings]})
    return default_answers() | {
        "AskQuestion": lambda user: script.thanks if "Expert:" in user else script.question,
        "AnswerFromPassages": lambda user: text(user, everything),
        "DraftOutline": outline,
        "RefineOutline": outline,
        "PlaceFindings": places,
        "WriteSection": section,
        "AnswerRemarks": deleted,
        "WriteLead": script.lead,
    }


@pytest.mark.parametrize("script", [GERMAN, JAPANESE], ids=lambda script: script.code)
def test_right_numbers_pass_and_a_wrong_one_is_remarked_on(script: Script, tmp_path: Path) -> None:
    right = [told for section in script.sections for told in section]
    found = [Snippet(f"https://example.org/{n}", script.topic, told.source) for n, told in enumerate(right, 1)]
    with FakeModel(answers(script)) as server:
        article = Storm(
            lm=server.lm,
            search=FakeSearch(lambda _: found),
            contents=NoContents(),
            article_language=script.code,
            writing="whole",
            perspectives=0,
            turns=2,
            top_k=6,
            out=tmp_path / "runs",
            cache=tmp_path / "cache",
            embedder=HashingEmbedder(256),
        ).write(script.topic)
    pages = {source.id: source.url for source in article.sources}
    urls = {told.written: {f"https://example.org/{n}"} for n, told in enumerate(right, 1)}
    (turn,) = article.conversations[0].turns
    for sentences in (turn.answer, *(tuple(section.sentences()) for section in article.sections)):
        assert all({pages[c.source_id] for c in one.citations} == urls[one.text] for one in sentences)
    assert [one.text for one in turn.answer] == list(urls)
    assert [[one.text for one in own.sentences()] for own in article.sections] == [
        [told.written for told in section] for section in script.sections
    ]
    assert [f"{one.text}[1]" for paragraph in article.lead for one in paragraph.sentences] == [script.lead]
    (remarks,) = (asked.user.partition("\nRemarks:")[2] for asked in server.of("AnswerRemarks"))
    (remark,) = re.findall(r"^ ?\d+\. (.*)$", remarks, re.M)
    assert remark.startswith(script.wrong)
    assert script.number in remark.removeprefix(script.wrong)
    assert {revision.before for revision in article.revisions} == {script.wrong}
    assert markers_resolve(article)
