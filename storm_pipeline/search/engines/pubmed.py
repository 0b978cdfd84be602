"""PubMed: abstracts of biomedical papers. Works without a key, faster with one."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from storm_pipeline.documents.markup import element_text
from storm_pipeline.documents.plain import plain_text
from storm_pipeline.errors import SearchError
from storm_pipeline.net.gates import Rate
from storm_pipeline.search.engine_info import EngineInfo, SearchOptions
from storm_pipeline.search.papers import MAX_RESULTS, PaperSearch, doi_name, full_name, joined_names, partial_date
from storm_pipeline.search.queries import topic_words, with_all_or_any
from storm_pipeline.types import Snippet

KEY_VARIABLE = "NCBI_API_KEY"
INFO = EngineInfo(
    "pubmed",
    needs=f"nothing; a free key in {KEY_VARIABLE} raises its rate",
    free=True,
    returns="abstracts of biomedical papers, one each",
    optional_variables=(KEY_VARIABLE,),
    supports=frozenset({"since", "until"}),
    open_web=False,
)
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


class PubMedSearch(PaperSearch):
    """Searches PubMed for papers with an abstract; one abstract per paper, its parts with their labels.

    A search takes two or three requests. Dates are those of publication.
    """

    info = INFO
    name = INFO.name
    address = "https://eutils.ncbi.nlm.nih.gov/entrez/eutils"
    rate = Rate(3.0, concurrent=3)
    rate_with_key = Rate(10.0, concurrent=3)

    def remedies(self) -> Mapping[int, str]:  # noqa: D102
        key = self._key
        refused = f"set {KEY_VARIABLE} to a valid key, or unset it to search without one" if key else "try again later"
        crowded = "too many requests; lower the number of searches at once"
        return {
            **dict.fromkeys((400, 401, 403), refused),
            429: crowded if key else f"{crowded}, or set {KEY_VARIABLE}",
        }

    def find(self, query: str, k: int) -> Iterator[Snippet]:
        """Papers with all words of the query, or if there are none, with any."""
        paper_ids = with_all_or_any(topic_words(query), lambda words: self._paper_ids(words, k))
        found = self._abstracts(paper_ids) if paper_ids else {}
        return (found[number] for number in paper_ids if number in found)

    def _common(self) -> dict[str, str]:
        return {"db": "pubmed", "tool": "storm-pipeline"} | ({"api_key": self._key} if self._key else {})

    def _paper_ids(self, words: str, k: int) -> list[str]:
        """Identifiers of the papers found, best first."""
        answer = self._client.post_form_json(
            {
                **self._common(),
                **_date_params(self._options),
                "term": f"({words}) AND hasabstract",
                "retmode": "json",
                "retmax": min(k, MAX_RESULTS),
                "sort": "relevance",
            },
            "/esearch.fcgi",
        )
        result = answer.get("esearchresult") if isinstance(answer, dict) else None
        if isinstance(result, dict) and (problem := plain_text(result.get("ERROR"))):
            raise SearchError(f"pubmed did not understand the query: {problem[:200]}")
        paper_ids = result.get("idlist") if isinstance(result, dict) else None
        if not isinstance(paper_ids, list):
            raise SearchError("pubmed answered with JSON in an unknown format; check the engine's address")
        return [number for number in dict.fromkeys(map(plain_text, paper_ids)) if number.isdecimal()]

    def _abstracts(self, paper_ids: Sequence[str]) -> dict[str, Snippet]:
        params = self._common() | {"id": ",".join(paper_ids), "retmode": "xml"}
        papers = self._client.post_form_xml(params, "/efetch.fcgi")
        if papers.tag != "PubmedArticleSet":
            raise SearchError("pubmed answered with XML in an unknown format; check the engine's address")
        return dict(_snippets(papers))


open_engine = PubMedSearch.open_engine


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
                    author=joined_names(map(_name, article.iterfind("AuthorList/Author"))),
                    site=element_text(article.find("Journal/Title")) or None,
                    publisher=element_text(article.find("Book/Publisher/PublisherName")) or None,
                    doi=_doi(paper, article),
                ),
            )


def _name(author: Any) -> str:
    return full_name(*(element_text(author.find(part)) for part in ("LastName", "ForeName", "CollectiveName")))


def _doi(paper: Any, article: Any) -> str | None:
    """The paper's DOI, from its electronic location or its list of identifiers; not one of its references'."""
    found = [
        *(one for one in article.iterfind("ELocationID") if one.get("EIdType") == "doi"),
        *(one for one in paper.iterfind("*/ArticleIdList/ArticleId") if one.get("IdType") == "doi"),
    ]
    return next(filter(None, (doi_name(element_text(one)) for one in found)), None)


def _parts(article: Any) -> Iterator[str]:
    """The parts of an abstract, prefixed with their labels."""
    for part in article.iterfind("Abstract/AbstractText"):
        if text := element_text(part):
            label = plain_text(part.get("Label"))
            yield f"{label.capitalize()}: {text}" if label and label != "UNLABELLED" else text


def _date(article: Any) -> str | None:
    """Publication date: the electronic one, which is exact, or else that of the issue or the book."""
    for path in ("ArticleDate", "Journal/JournalIssue/PubDate", "ContributionDate", "Book/PubDate"):
        found = article.find(path)
        if found is not None and (day := _parsed(found)):
            return day
    return None


def _parsed(found: Any) -> str | None:
    year, month, day = (plain_text(found.findtext(name)) for name in ("Year", "Month", "Day"))
    month = month[:3].lower()
    named = str(_MONTHS.index(month) + 1) if month in _MONTHS else month
    return partial_date([year or plain_text(found.findtext("MedlineDate"))[:4], named, day])


def _date_params(options: SearchOptions) -> dict[str, str]:
    """The publication dates as parameters; the service requires both ends or neither."""
    if not (options.since or options.until):
        return {}
    first = f"{options.since:%Y/%m/%d}" if options.since else "1000/01/01"
    last = f"{options.until:%Y/%m/%d}" if options.until else "3000/12/31"
    return {"datetype": "pdat", "mindate": first, "maxdate": last}
