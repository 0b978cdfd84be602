"""Thirty-nine criteria for comparing two articles side by side, after Wikipedia's Good Article criteria.

Wikipedia asks of a Good Article that it is well written, verifiable, broad, neutral, stable and illustrated
(https://en.wikipedia.org/wiki/Wikipedia:Good_article_criteria). These criteria divide the first four, in our own words.
What the text of two articles does not show is left out: edit wars, images, and reference lists and citations, which the
data sets do not have for the human articles (the citation metrics judge those of the generated ones).
"""

from dataclasses import dataclass

from storm_pipeline.api import fingerprint


@dataclass(frozen=True)
class Criterion:
    """A quality that one of two articles may have more of."""

    name: str  # short and unique
    group: str  # the group of criteria it belongs to, one of :data:`GROUPS`
    text: str  # the quality, in one sentence


_TEXTS = {
    "prose": {
        "clarity": "Every sentence is understood at first reading; none is tangled, ambiguous, or vague about who did "
        "what.",
        "concision": "No word is wasted: no padding, no empty introductions, nothing that could be cut without loss.",
        "correctness": "Spelling, grammar and punctuation are correct.",
        "accessibility": "A reader without special knowledge can follow: technical terms, abbreviations and unfamiliar "
        "names are explained where they first appear.",
        "cohesion": "Sentences and paragraphs lead on to one another and read as connected prose, not as a series of "
        "separate facts.",
        "style": "Tense, spelling, and the form of names, dates, numbers and units are the same throughout.",
        "repetition": "Nothing is said twice without need, apart from what the lead summarises.",
    },
    "wording": {
        "puffery": "No promotional or inflated words, such as 'legendary' or 'groundbreaking', enlarge the subject.",
        "weasel_words": "No claim rests on unnamed authorities, as in 'some say' or 'it is widely regarded as'.",
        "editorialising": "No remark tells readers what to notice or think, as in 'notably' or 'it should be noted'.",
        "relative_time": "Times are dates, not words that go out of date, such as 'recently' or 'currently'.",
        "fiction": "What happens in works of fiction is described as the content of a work, not as fact, and does not "
        "crowd out facts about the work.",
        "lists": "The content is prose; enumerations and bare items appear only where prose would be harder to read.",
    },
    "lead": {
        "opening": "The first sentence says what the subject is.",
        "summary": "The lead, the text before the first heading, summarises the most important points of the body.",
        "lead_balance": "The lead gives its points about the weight that they have in the body.",
        "lead_detail": "What the lead states is treated in more detail in the body.",
        "lead_length": "The lead's length suits the article's: a paragraph for a short article, up to four for a long "
        "one.",
    },
    "layout": {
        "sections": "The text is divided into sections at sensible points; none is too long, and none has only a "
        "sentence or two.",
        "order": "The sections are in an order that readers expect, such as by time or from the general to the "
        "particular.",
        "headings": "Headings are short, name what their section treats, and repeat neither the topic nor one another.",
        "paragraphs": "Each paragraph develops one point; none is a single sentence or a wall of text.",
    },
    "breadth": {
        "main_aspects": "All main aspects of the topic are treated.",
        "depth": "The main aspects are treated in enough detail to be understood.",
        "context": "The background that a reader needs is given: causes, circumstances and consequences.",
        "focus": "The text stays on the topic, without trivia, digressions or needless detail.",
    },
    "verifiability": {
        "precision": "Statements are specific enough to be checked: they give names, dates, places and figures instead "
        "of generalities.",
        "attribution": "Opinions, evaluations and disputed claims name those who hold them.",
        "quotations": "Quotations are marked as such, say who is quoted, and appear where the exact words matter.",
        "synthesis": "The text reports, without conclusions, comparisons or causal links that seem to be its author's "
        "own.",
        "speculation": "Guesses, predictions and unconfirmed reports are marked as such, not stated as facts.",
        "agreement": "Facts, figures, names and dates agree with one another throughout the text.",
        "own_prose": "The text is written for this article, without sudden changes of voice and without remains of web "
        "pages, press releases, reports or instructions.",
    },
    "neutrality": {
        "tone": "The tone is that of an encyclopedia: impersonal and informative, unlike an essay, an advertisement or "
        "a news story.",
        "fairness": "Where views differ, every significant one is presented fairly.",
        "weight": "Views and events get space according to their importance; no minor one dominates.",
        "balance": "Successes and failures, praise and criticism both appear where the subject has both.",
        "labels": "People, groups and events are described in neutral terms, without loaded labels.",
        "advocacy": "The text does not argue for anything, give advice, draw a moral, or address its readers.",
    },
}
GROUPS = tuple(_TEXTS)
"""The groups of criteria, in order."""
CRITERIA = tuple(Criterion(name, group, text) for group, own in _TEXTS.items() for name, text in own.items())
"""The criteria, in the order in which a judge is asked about them."""


def criteria_fingerprint() -> str:
    """A 12-digit hexadecimal hash of the criteria's texts, in order."""
    return fingerprint([(one.name, one.text) for one in CRITERIA])[:12]
