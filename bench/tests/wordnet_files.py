"""A WordNet of a few synonyms in the form of the real one's database files (manual page wndb(5WN))."""

from pathlib import Path

SYNONYMS = {"noun": [["car", "auto"], ["road", "way"]], "verb": [["travel", "go"]], "adj": [], "adv": []}
_LETTER = {"noun": "n", "verb": "v", "adj": "a", "adv": "r"}
_HEAD = "  1 WordNet 3.0 Copyright 2006 by nobody: made for a test.  \n"


def write_wordnet(folder: Path) -> Path:
    """Write the files below a folder as NLTK keeps them, and return it; data lines begin with their offset in bytes."""
    files = folder / "corpora" / "wordnet"
    files.mkdir(parents=True, exist_ok=True)
    (files / "lexnames").write_text("00\tadj.all\t3\n")
    (files / "index.sense").touch()
    for part, groups in SYNONYMS.items():
        letter, data, index = _LETTER[part], _HEAD, []
        for group in groups:
            offset = len(data.encode())
            members = " ".join(f"{word} 0" for word in group)
            data += f"{offset:08d} 00 {letter} {len(group):02x} {members} 000 | a meaning  \n"
            index += [f"{word} {letter} 1 0 1 0 {offset:08d}  \n" for word in group]
        (files / f"data.{part}").write_text(data)
        (files / f"index.{part}").write_text(_HEAD + "".join(sorted(index)))
        (files / f"{part}.exc").write_text("went go\n" if part == "verb" else "")
    return folder
