"""Every citation of an article with the words of its passage that carry the sentence."""

from dataclasses import replace

from storm_pipeline.judges.base import Question
from storm_pipeline.judges.spans import deciding
from storm_pipeline.references.changing import with_sentences
from storm_pipeline.types import Article, Citation, Sentence


def with_spans(article: Article) -> Article:
    """The article whose citations say where in their passages the words stand that they rest on.

    Spans that are there already stay: a judge that read the passage knows better. Where passage and sentence share no
    word, as between languages, a citation keeps none.
    """
    texts = {snippet.id: snippet.text for source in article.sources for snippet in source.snippets}

    def located(claim: str, citation: Citation) -> Citation:
        if citation.spans or citation.snippet_id not in texts:
            return citation
        found = deciding(Question(claim, (texts[citation.snippet_id],)))
        return replace(citation, spans=tuple(sorted((one.start, one.end) for one in found)))

    def sentence(own: Sentence) -> Sentence:
        return replace(own, citations=tuple(located(own.text, citation) for citation in own.citations))

    return with_sentences(article, sentence)
