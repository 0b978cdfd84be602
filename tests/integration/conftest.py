"""Models that the tests of whole runs ask."""

from collections.abc import Iterator

import pytest
from llm import FakeModel
from test_resume import answers


@pytest.fixture
def server() -> Iterator[FakeModel]:
    """A model that does all that it is asked."""
    with FakeModel() as made:
        yield made


@pytest.fixture
def steady() -> Iterator[FakeModel]:
    """One whose questions depend on the conversation alone, so that a run that is resumed asks the same again."""
    with FakeModel(answers()) as made:
        yield made
