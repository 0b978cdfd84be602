"""Files that list topics: what is read from them, and how a wrong one is refused."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storm_pipeline.errors import SettingsError
from storm_pipeline.interfaces.batch import TopicRequest, read_topics
from storm_pipeline.interfaces.batch import topics as list_of_topics

ANY = settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    return path


def topics(path: Path) -> list[str]:
    return [request.topic for request in read_topics(path)]


@ANY
@given(data=st.binary(max_size=300), name=st.sampled_from(["t.txt", "t.csv", "t.jsonl"]))
def test_any_bytes_are_read_or_refused_in_one_sentence(tmp_path: Path, data: bytes, name: str) -> None:
    try:
        assert read_topics(write(tmp_path, name, data))
    except SettingsError as error:
        assert name in str(error)
        assert "Traceback" not in str(error)


def test_an_order_tells_its_line_and_its_settings_are_spelt_as_fields(tmp_path: Path) -> None:
    path = write(tmp_path, "t.csv", 'Topic,Max-Sections,domains\n"Silk, raw",3,a.org|b.org\n\nJade,,\n')
    assert read_topics(path) == (
        TopicRequest("Silk, raw", {"max_sections": "3", "domains": ["a.org", "b.org"]}),
        TopicRequest("Jade"),
    )
    assert [request.place for request in read_topics(path)] == ["t.csv, line 2", "t.csv, line 4"]


def test_other_character_sets_are_read(tmp_path: Path) -> None:
    assert topics(write(tmp_path, "t.txt", "Zürich\r\nGenève\r\n".encode("latin-1"))) == ["Zürich", "Genève"]
    assert topics(write(tmp_path, "t.csv", "topic;turns\r\nZürich;3\r\n".encode("latin-1"))) == ["Zürich"]
    assert topics(write(tmp_path, "t.csv", "topic\tturns\rZürich\t3\r".encode("utf-16"))) == ["Zürich"]
    assert topics(write(tmp_path, "t.jsonl", '{"topic": "Zürich"}\r\n'.encode("utf-8-sig"))) == ["Zürich"]
    assert topics(write(tmp_path, "t.TXT", "\ufeffZürich\n")) == ["Zürich"]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("t.md", "Jade", r"t\.md is not a list of topics: its name must end in \.txt, \.csv, \.jsonl"),
        ("t.txt", "", r"t\.txt has no topic"),
        ("t.txt", "# Jade\n\n", r"t\.txt has no topic"),
        ("t.csv", "topic\n", r"t\.csv has no topic"),
        ("t.csv", "Jade\nSilk\n", r"t\.csv has no column 'topic'"),
        ("t.csv", "", r"t\.csv has no column 'topic'"),
        ("t.csv", "topic,turn\nJade,3\n", r"t\.csv, line 1: there is no setting 'turn'"),
        ("t.csv", "topic,turns,turns\nJade,3,4\n", r"t\.csv, line 1: .*'turns'"),
        ("t.csv", "topic,,turns\nJade,3,4\n", r"t\.csv, line 1: .* name each column once"),
        ("t.csv", "topic,out\nJade,x\n", r"t\.csv, line 1: 'out' applies to the whole batch"),
        ("t.csv", "topic,turns\nJade,3\n,4\n", r"t\.csv, line 3 has no topic"),
        ("t.csv", "topic,turns\nSilk, raw,3\n", r"t\.csv, line 2 has 3 cells for 2 columns"),
        ("t.csv", 'topic,turns\nJade,3\n"Silk,3\nAmber,3\n', r"t\.csv, line 3 is not a valid row"),
        ("t.jsonl", '{"topic": "Jade"}\n{"topic": \n', r"t\.jsonl, line 2 is not JSON"),
        ("t.jsonl", "[" * 100_000, r"t\.jsonl, line 1 is not JSON"),
        ("t.jsonl", '["Jade"]', r"t\.jsonl, line 1 is not an object"),
        ("t.jsonl", '{"topic": 1984}', r"t\.jsonl, line 1 has no topic"),
        ("t.jsonl", '{"topic": " "}', r"t\.jsonl, line 1 has no topic"),
        ("t.jsonl", '\n{"topic": "Jade", "turn": 3}', r"t\.jsonl, line 2: there is no setting 'turn'"),
        ("t.jsonl", '{"topic": "Jade", "turns": 3, "Turns": 3}', r"t\.jsonl, line 1: .*given twice"),
        ("t.jsonl", '{"topic": "Jade", "top_p": NaN}', r"t\.jsonl, line 1: .*cannot be saved"),
        ("t.jsonl", '{"topic": "Jade \\ud800"}', r"t\.jsonl, line 1: .*cannot be saved"),
    ],
)
def test_what_is_no_list_of_topics_is_refused(tmp_path: Path, name: str, content: str, complaint: str) -> None:
    with pytest.raises(SettingsError, match=complaint) as refused:
        read_topics(write(tmp_path, name, content))
    assert "\n" not in str(refused.value)


def test_a_thousand_topics_are_read_and_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(list_of_topics, "_MOST_TOPICS", 1000)
    rows = "".join(f'"Topic {n}, of many",{n % 5 + 1}\n' for n in range(1000))
    requests = read_topics(write(tmp_path, "t.csv", f"topic,turns\n{rows}"))
    assert len(requests) == 1000
    assert requests[-1] == TopicRequest("Topic 999, of many", {"turns": "5"})
    for name, content, said in (
        ("t.csv", f"topic,turns\n{rows}One,1", "more than 1,000 topics"),
        ("t.txt", "a\n" * 400_000, "more than 1,000 topics"),
        ("t.jsonl", '{"topic": "a"}\n' * 100_000, "more than 1,000,000 bytes"),
    ):
        with pytest.raises(SettingsError, match=rf"{name}.*{said}.*split"):
            read_topics(write(tmp_path, name, content))
