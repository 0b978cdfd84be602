"""A scripted language model whose sections are short sentences of passages and inventions.

It tells sentences of the passages that it is shown, word for word, and adds to every fifth a number, a year or a name
that no passage has. Asked again by a remark, it repeats its sentence unchanged in half of the cases, and drops the
invention in the other half, by the sentence's hash. All other prompts are answered as :mod:`.scripted` does.
"""

import re

from storm_benchmarks.scripted import mark_of, number_of, scripted_reply

_FACT = re.compile(r"^(?:Passages: )?\[(\d+)\] [^:\n]*: (.+)$", re.M)
_REMARK = re.compile(r"^ ?(\d+)\. (.+?)((?:\[\d+\])+)? — ", re.M)
_KINDS = ("number", "year", "name")
_FIRST, _LAST = (
    "Ambrose Benedikt Cordula Dorian Eudora Fenella".split(),
    "Tellwright Quarlesen Vosbrink Zerling".split(),
)
_SENTENCES, _LENGTHS, _EVERY = 20, range(6, 17), 5  # of a section; words of a sentence; one in so many is invented


class InventingWriter:
    """The model; ``invented`` has the kind of each invention by its words."""

    def __init__(self) -> None:
        self.invented: dict[str, str] = {}

    def reply(self, texts: list[str]) -> str:
        """Reply to a prompt of the pipeline: the system's text, and the user's last."""
        system, user = texts[0], texts[-1]
        if "has doubts about the sentences" in system:
            remarks = user.rpartition("\nRemarks:")[2]
            return "\n".join(f"{n}: {self._again(text)} {cited}" for n, text, cited in _REMARK.findall(remarks))
        if "Write one section" not in system:
            return scripted_reply(system, user, mark_of(user))[1]
        told = [
            (sentence, number)
            for number, text in _FACT.findall(user)
            for sentence in re.split(r"(?<=[a-z)]\.) (?=[A-Z])", text)
            if len(sentence.split()) in _LENGTHS and sentence[0].isupper() and sentence[-1] == "."
        ][:_SENTENCES]
        return " ".join(
            f"{self._with_invention(sentence, user) if i % _EVERY == _EVERY - 1 else sentence} [{number}]"
            for i, (sentence, number) in enumerate(told)
        )

    def _with_invention(self, sentence: str, prompt: str) -> str:
        seed = number_of(sentence)
        kind = _KINDS[seed % len(_KINDS)]
        while True:
            seed = number_of(f"{seed}")
            number, year = f"{seed % 9000 + 1000:,}", str(seed % 500 + 1400)
            name = f"{_FIRST[seed % len(_FIRST)]} {_LAST[seed // 7 % len(_LAST)]}"
            token = {"number": number, "year": year, "name": name}[kind]
            if token not in prompt:
                break
        words = {"number": f" with {token} others", "year": f" in {token}", "name": f" with {token}"}[kind]
        self.invented[words] = kind
        return f"{sentence[:-1]}{words}."

    def _again(self, sentence: str) -> str:
        own = next((words for words in self.invented if sentence.endswith(f"{words}.")), "")
        return sentence if number_of(sentence) % 2 else sentence.removesuffix(f"{own}.") + "."
