"""A language model for tests that also judges: :class:`llm.FakeModel` with the judges' signatures."""

from collections.abc import Mapping

import llm
from servers import Reply

from storm_bench.signatures import judging


class FakeModel(llm.FakeModel):
    """Serves ``/v1/chat/completions``; see :class:`llm.FakeModel`."""

    def __init__(
        self, answers: Mapping[str, llm.Answer] | None = None, faults: Mapping[str, list[Reply]] | None = None
    ) -> None:
        super().__init__(answers, faults, llm.signatures_of(judging))
