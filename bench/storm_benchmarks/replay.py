"""Replays a recorded run in this checkout: what reading, screen and edit do to a capable writer's replies.

    python -m storm_benchmarks.replay FOLDER [--out FILE] [--against FILE] [--cache cache]

FOLDER has ``requests/NNNN.req.txt`` and ``NNNN.rep.txt``, the prompts and replies of the run in order, and ``run/``,
its folder. A reply is given again by its place: the n-th of a stage for the same question, interviewer or heading,
whatever the prompt says now; the numbers in it become those that the same passages and sentences have today, and a
sentence that cites what is shown no more is left out. A search gives what it gave then; one that was not made then
gives the best of all that the run found. Where no reply was recorded, the model has nothing to say: an interviewer
takes leave, an editor edits nothing, a writer leaves a remark unanswered.

Printed are the remarks that the writer got, each with its sentence; sentences dropped, changed citations, edits
refused; sentences left out; places without a reply; words of passages in prompts; seconds.
``--out`` writes all of it as JSON; ``--against`` prints the differences to such a file from another checkout.
"""

import json
import re
import resource
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import dspy

from storm_benchmarks.recorded_run import RecordedWriter, Recording
from storm_benchmarks.shared import options, print_table
from storm_pipeline import Article, Storm
from storm_pipeline.types import Sentence

_LONGEST = 400  # characters of an item in print
_SETTINGS = ("perspectives", "turns", "queries", "related_topics", "top_k")
_LISTS = {
    "remarks": "remarks to the writer: place | sentence | remark",
    "revised": "sentences changed: where | sentence | outcome | reason | sentence now",
    "unfound": "sentences of answers that are no findings: question | sentence",
    "refused": "edits refused",
    "lost": "sentences left out, since a passage that they cite is shown no more: place | sentence | passage",
    "unrecorded": "places without a recorded reply",
    "searches": "searches that were not recorded",
    "problems": "problems in the report",
}
"""Item of a result that lists something → what it lists."""


class _NoContents:
    """Tables of contents, of which there are none, as in the recorded runs."""

    def table_of_contents(self, title: str) -> None:
        """None for every title."""


def replayed(folder: Path, cache: Path) -> dict[str, Any]:
    """What a recorded run comes to in this checkout, as JSON; ``cache``: folder of the encoder."""
    recording = Recording(folder)
    writer = RecordedWriter(recording)
    before = resource.getrusage(resource.RUSAGE_SELF)
    with TemporaryDirectory() as out:
        article = Storm(
            lm=dspy.LM("openai/recorded", engine=writer, cache=False),
            search=recording,
            contents=_NoContents(),
            read_pages="never",
            source_policy="any",
            out=Path(out),
            cache=cache,
            progress=False,
            **{name: recording.settings[name] for name in _SETTINGS},
        ).write(recording.begun["topic"], recording.begun["recipe"])
    after = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "topic": article.title,
        "seconds": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1),
        **{name: writer.seen[name] for name in ("remarks", "refused", "lost", "unrecorded")},
        "passages": _by_stage(writer.seen["passages"]),
        "revised": [[r.where, r.before, r.outcome, r.reason, r.after] for r in article.revisions],
        "unfound": _unfound(writer.seen["answers"], article),
        "searches": recording.unknown,
        "without_prompt": recording.unasked,
        "problems": [problem.detail for problem in article.report.problems],
        "findings": _cited(article, (s for c in article.conversations for turn in c.turns for s in turn.answer)),
        "sentences": _cited(article, article.sentences()),
    }


def _by_stage(shown: Iterable[tuple[str, int, int]]) -> dict[str, list[int]]:
    """Stage → prompts with passages, passages, and words of passages."""
    counted: dict[str, list[int]] = {}
    for stage, number, words in sorted(shown):
        counted[stage] = [a + b for a, b in zip(counted.get(stage, (0, 0, 0)), (1, number, words), strict=True)]
    return counted


def _unfound(answers: Iterable[tuple[str, Sequence[str]]], article: Article) -> list[list[str]]:
    """Sentences of answers of which no finding was made, with their places."""
    turns = (turn for conversation in article.conversations for turn in conversation.turns)
    found = {_bare(sentence.text) for turn in turns for sentence in turn.answer}
    return sorted([place, text] for place, texts in answers for text in texts if _bare(text) not in found)


def _bare(text: str) -> str:
    return re.sub(r"\s+(?=[,;.])", "", " ".join(text.split())).strip(" .")


def _cited(article: Article, sentences: Iterable[Sentence]) -> dict[str, list[list[str]]]:
    """Text of each sentence → address and beginning of what it cites."""
    texts = {one.id: (one.url, " ".join(one.text.split()[:12])) for s in article.sources for one in s.snippets}
    cited = ((s.text, [list(texts.get(c.snippet_id, ("?", c.snippet_id))) for c in s.citations]) for s in sentences)
    return {text: sorted(own) for text, own in cited}


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Each difference between two results, a line each: ``-`` only the old has it, ``+`` only the new."""
    lines = []
    for name, title in _LISTS.items():
        counts = [Counter(map(_line, result.get(name, ()))) for result in (old, new)]
        only = [f"- {one}" for one in (counts[0] - counts[1]).elements()]
        only += [f"+ {one}" for one in (counts[1] - counts[0]).elements()]
        lines += [f"\n## {title}: {counts[0].total()} | {counts[1].total()}", *only]
    for name in ("findings", "sentences"):
        before, after = old[name], new[name]
        lines.append(f"\n## {name}: {len(before)} | {len(after)}")
        lines += [f"- {text}" for text in before if text not in after]
        lines += [f"+ {text}" for text in after if text not in before]
        same = [text for text in before if text in after]
        moved = {text: _moved(before[text], after[text]) for text in same}
        lines.append(f"\n## citations of {len(same)} equal {name}: {sum(map(bool, moved.values()))} changed")
        lines += [f"  {text}\n{change}" for text, change in moved.items() if change]
    return lines


def _moved(before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]) -> str:
    """The citations that one of two has; a page that both cite is marked ``same page``."""
    pages = {one[0] for one in before} & {one[0] for one in after}
    gone = [f"    - {_line(one)}{' (same page)' * (one[0] in pages)}" for one in before if one not in after]
    return "\n".join(gone + [f"    + {_line(o)}{' (same page)' * (o[0] in pages)}" for o in after if o not in before])


def _line(item: Any) -> str:
    return (
        item
        if isinstance(item, str)
        else " | ".join(one if len(one) < _LONGEST else f"{one[:_LONGEST]}…" for one in item)
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Replay a run and print what happened."""
    parser = options(__doc__, "cache")
    parser.add_argument("folder", type=Path, help="folder of the recorded run")
    parser.add_argument("--out", type=Path, help="JSON file to write")
    parser.add_argument("--against", type=Path, help="JSON file of another checkout to compare with")
    args = parser.parse_args(arguments)
    result = replayed(args.folder, args.cache)
    if args.out:
        args.out.write_text(json.dumps(result, ensure_ascii=False, indent=1), encoding="utf-8")
    print(f"# {result['topic']}: {len(result['sentences'])} sentences, {len(result['findings'])} findings, ", end="")
    print(
        f"{result['seconds']} CPU seconds; prompts that are missing: {', '.join(result['without_prompt']) or 'none'}\n"
    )
    stages = result["passages"].items()
    print_table(("stage", "prompts", "passages", "words"), ((name, *counts) for name, counts in stages), marks="<>>>")
    for name, title in _LISTS.items():
        print(f"\n## {title}: {len(result[name])}", *map(_line, result[name]), sep="\n- ")
    if args.against:
        print(f"\n# Differences to {args.against}")
        print(*differences(json.loads(args.against.read_text(encoding="utf-8")), result), sep="\n")


if __name__ == "__main__":
    main()
