"""The summary of a finished run on standard error."""

from storm_pipeline.interfaces.cli.output import distinct_lines
from storm_pipeline.text.formatting import amount, dollars, printable, with_noun
from storm_pipeline.text.languages import length_in_words
from storm_pipeline.types import Article, Outline, Problem, Usage

_MOST_PROBLEMS = 5


def of_article(article: Article) -> str:
    """Return a summary of an article: size, uncited sentences, questions, usage, problems."""
    sentences = list(article.sentences())
    words = sum(length_in_words(sentence.text) for sentence in sentences)
    uncited = sum(not sentence.citations for sentence in sentences)
    sections, references = with_noun(len(article.sections), "section"), with_noun(len(article.references), "reference")
    facts = [sections, with_noun(words, "word"), references, f"{uncited} of {len(sentences)} sentences uncited"]
    if asked := sum(len(conversation.turns) for conversation in article.conversations):
        facts.append(f"{with_noun(asked, 'question')} asked")
    note = [printable(article.note)] if article.note else []
    lines = [", ".join(facts), _usage(article.usage), *_problems(article.report.problems), *note]
    return "\n".join([printable(article.title), *(f"  {line}" for line in lines)])


def of_outline(outline: Outline, usage: Usage, problems: tuple[Problem, ...]) -> str:
    """Return a summary of an outline: sections, headings, usage, problems."""
    headings = sum(1 for _ in outline.titles())
    size = f"{with_noun(len(outline.sections), 'section')}, {with_noun(headings, 'heading')}"
    lines = [size, _usage(usage), *_problems(problems)]
    return "\n".join([printable(outline.topic), *(f"  {line}" for line in lines)])


def _usage(usage: Usage) -> str:
    tokens = f"{amount(usage.tokens_in)} tokens in, {amount(usage.tokens_out)} out"
    if usage.estimated:
        tokens += f" (estimated for {usage.estimated} calls, whose server reports none)"
    cost = "unknown cost" if usage.cost is None else dollars(usage.cost)
    return f"{with_noun(usage.calls, 'call')}, {tokens}, {cost}, {usage.seconds:.0f} s"


def _problems(problems: tuple[Problem, ...]) -> list[str]:
    if not problems:
        return ["no problems"]
    lines = (printable(f"{problem.kind} in {problem.stage}: {problem.detail}") for problem in problems)
    return [f"{with_noun(len(problems), 'problem')}:", *(f"  {line}" for line in distinct_lines(lines, _MOST_PROBLEMS))]
