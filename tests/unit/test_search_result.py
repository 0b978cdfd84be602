"""What a search gives goes into the journal and comes out the same; nothing else is taken for it."""

import dataclasses
import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from storm_pipeline.search.result import PagePassage, SearchResult, SeenPage, Unread, WholePage, decoded, encoded
from storm_pipeline.types import Exclusion, Snippet

TEXT = st.text(st.characters())  # halves of surrogate pairs included
MAYBE = st.none() | TEXT
SNIPPET = st.builds(
    Snippet, TEXT, TEXT, TEXT, MAYBE, st.none() | st.integers(1), TEXT, TEXT, author=MAYBE, site=MAYBE, language=MAYBE
)
PASSAGE = st.builds(PagePassage, TEXT, TEXT, st.none() | st.integers(1))
RESULT = st.builds(
    SearchResult,
    st.lists(SNIPPET, max_size=3).map(tuple),
    st.lists(st.builds(Exclusion, TEXT, TEXT, TEXT, TEXT), max_size=3).map(tuple),
    st.lists(st.builds(Unread, TEXT, TEXT), max_size=3).map(tuple),
    st.lists(TEXT, max_size=3).map(tuple),
    st.lists(st.builds(SeenPage, TEXT, TEXT, TEXT, TEXT), max_size=3).map(tuple),
    st.lists(TEXT, max_size=3).map(tuple),
    st.lists(st.builds(WholePage, SNIPPET, st.lists(PASSAGE, max_size=3).map(tuple)), max_size=2).map(tuple),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@given(RESULT)
def test_what_is_encoded_is_decoded_also_through_json(result: SearchResult) -> None:
    assert decoded(encoded(result)) == result
    assert decoded(json.loads(json.dumps(encoded(result)))) == result


@given(JSON)
def test_no_other_value_is_a_result(value: Any) -> None:
    assert decoded(value) is None


@given(RESULT, st.sampled_from([field.name for field in dataclasses.fields(SearchResult)]), JSON)
def test_a_damaged_record_is_none_or_a_whole_result(result: SearchResult, name: str, value: Any) -> None:
    record = encoded(result) | {name: [value]}
    found = decoded(record)
    if found is not None:
        assert isinstance(value, str) and name in {"read", "lost"}
        assert json.loads(json.dumps(encoded(found))) == json.loads(json.dumps(record))
    rest = decoded({key: part for key, part in encoded(result).items() if key != name})
    assert rest == (replace(result, pages=()) if name == "pages" else None)  # runs of earlier versions have no pages
    assert decoded(encoded(result) | {"more": value}) is None
