"""What a judge with a short window reads of long passages: the sentences that share the rarest words with the claim."""

import math
from collections import Counter

from storm_pipeline.judges.base import Question
from storm_pipeline.languages import count_words, detect, split_sentences, stem_set


def excerpt(question: Question, words: int) -> str:
    """The sentences of the passages that share most with the claim, in their order, up to ``words`` in all.

    A shared word counts the more, the fewer sentences have it. Passages that fit are returned whole. The best sentence
    is cut if it alone is too long.
    """
    whole = "\n".join(text for text in question.passages if text.strip())
    if count_words(whole) <= words:
        return whole
    language = detect(question.claim)
    sentences = [one for text in question.passages for one in split_sentences(text, "")]
    wanted = stem_set(question.claim, language)
    shared = [stem_set(sentence, language) & wanted for sentence in sentences]
    held = Counter(stem for own in shared for stem in own)
    weight = {stem: math.log(1 + len(sentences) / number) for stem, number in held.items()}
    scores = [sum(weight[stem] for stem in own) for own in shared]
    chosen: list[int] = []
    for i in sorted(range(len(sentences)), key=lambda i: (-scores[i], i)):
        length = count_words(sentences[i])
        if length <= words:
            chosen.append(i)
            words -= length
    if chosen or not sentences:
        return " ".join(sentences[i] for i in sorted(chosen))
    best = max(range(len(sentences)), key=lambda i: (scores[i], i))
    return " ".join(sentences[best].split()[:words])
