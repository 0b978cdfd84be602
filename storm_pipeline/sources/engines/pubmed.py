"""PubMed: abstracts of biomedical papers. Works without a key, faster with one."""

from collections.abc import Iterator, Sequence
from typing import Any

from storm_pipeline.errors import SearchError
from storm_pipeline.sources.documents.markup import element_text
from storm_pipeline.sources.search.engine_info import EngineInfo, SearchOptions
from storm_pipeline.sources.search.paging import best_passages
from storm_pipeline.sources.search.papers import MAX_RESULTS, doi_name, full_name, join_names, partial_date
from storm_pipeline.sources.search.queries import topic_words, with_all_or_any
from storm_pipeline.sources.search.web_service import WebService, WebServiceSearch, list_at, without_empty
from storm_pipeline.sources.transport.gates import Rate
from storm_pipeline.sources.transport.refusals import unknown_format
from storm_pipeline.text.plain import plain_text
from storm_pipeline.text.quantities import month_names
from storm_pipeline.types import Snippet

_KEY = "NCBI_API_KEY"
INFO = EngineInfo(
    "pubmed",
    needs=f"nothing; a free key in {_KEY} raises its rate",
    free=True,
    returns="abstracts of biomedical papers, one each",
    optional_variables=(_KEY,),
    supports=frozenset({"since", "until"}),
    open_web=False,
)


def _find(engine: WebServiceSearch, query: str, k: int) -> Sequence[Snippet]:
    paper_ids = with_all_or_any(topic_words(query), lambda words: _paper_ids(engine, words, k))
    if not paper_ids:
        return ()
    asked = _common(engine) | {"id": ",".join(paper_ids), "retmode": "xml"}
    papers = engine.client.post_form_xml(asked, "/efetch.fcgi")
    if papers.tag != "PubmedArticleSet":
        raise unknown_format("pubmed", "XML")
    snippets = dict(_snippets(papers))
    return best_passages((snippets[number] for number in paper_ids if number in snippets), k)


def _common(engine: WebServiceSearch) -> dict[str, Any]:
    return without_empty(db="pubmed", tool="storm-pipeline", api_key=engine.key)


def _paper_ids(engine: WebServiceSearch, words: str, k: int) -> list[str]:
    asked: dict[str, Any] = {"term": f"({words}) AND hasabstract", "sort": "relevance"}
    asked |= {"retmode": "json", "retmax": min(k, MAX_RESULTS)}
    answer = engine.client.post_form_json(_common(engine) | engine.params | asked, "/esearch.fcgi")
    result = answer.get("esearchresult") if isinstance(answer, dict) else None
    if isinstance(result, dict) and (problem := plain_text(result.get("ERROR"))):
        raise SearchError(f"pubmed did not understand the query: {problem[:200]}")
    if (paper_ids := list_at(result, "idlist")) is None:
        raise unknown_format("pubmed")
    return [number for number in dict.fromkeys(map(plain_text, paper_ids)) if number.isdecimal()]


def _options(options: SearchOptions) -> dict[str, Any]:
    """Return the publication dates as parameters; the service requires both ends or neither."""
    first = f"{options.since:%Y/%m/%d}" if options.since else "1000/01/01"
    last = f"{options.until:%Y/%m/%d}" if options.until else "3000/12/31"
    return {"datetype": "pdat", "mindate": first, "maxdate": last} if options.since or options.until else {}


def _snippets(papers: Any) -> Iterator[tuple[str, Snippet]]:
    for paper in papers.iterchildren("PubmedArticle", "PubmedBookArticle"):
        book = paper.find("BookDocument")
        record = paper.find("MedlineCitation") if book is None else book
        if record is None:
            continue
        number, article = element_text(record.find("PMID")), record.find("Article") if book is None else book
        text = " ".join(_parts(article)) if article is not None else ""
        if number.isdecimal() and text:
            title = element_text(article.find("ArticleTitle")) or element_text(article.find("Book/BookTitle"))
            url = f"https://pubmed.ncbi.nlm.nih.gov/{number}/"
            yield (
                number,
                Snippet(
                    url,
                    title,
                    text,
                    published=_date(article),
                    engine=INFO.name,
                    author=join_names(map(_name, article.iterfind("AuthorList/Author"))),
                    site=element_text(article.find("Journal/Title")) or None,
                    publisher=element_text(article.find("Book/Publisher/PublisherName")) or None,
                    doi=_doi(paper, article),
                ),
            )


def _name(author: Any) -> str:
    return full_name(*(element_text(author.find(part)) for part in ("LastName", "ForeName", "CollectiveName")))


def _doi(paper: Any, article: Any) -> str | None:
    elements = [
        *(element for element in article.iterfind("ELocationID") if element.get("EIdType") == "doi"),
        *(element for element in paper.iterfind("*/ArticleIdList/ArticleId") if element.get("IdType") == "doi"),
    ]
    return next(filter(None, (doi_name(element_text(element)) for element in elements)), None)


def _parts(article: Any) -> Iterator[str]:
    for part in article.iterfind("Abstract/AbstractText"):
        if text := element_text(part):
            label = plain_text(part.get("Label"))
            yield f"{label.capitalize()}: {text}" if label and label != "UNLABELLED" else text


def _date(article: Any) -> str | None:
    """Return the publication date: the exact electronic one, else that of the issue or book."""
    for path in ("ArticleDate", "Journal/JournalIssue/PubDate", "ContributionDate", "Book/PubDate"):
        parts = (plain_text(article.findtext(f"{path}/{part}")) for part in ("Year", "MedlineDate", "Month", "Day"))
        year, years, month, day = parts
        if known := partial_date([year or years[:4], month_names("en").get(month[:3].title(), month), day]):
            return known
    return None


SERVICE = WebService(
    INFO,
    address="https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
    rate=3.0,
    concurrent=3,
    with_key=Rate(10.0, concurrent=3),
    options=_options,
    find=_find,
)
open_engine = SERVICE.open_engine
