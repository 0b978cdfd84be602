"""GPT-4's tokens, from the file that LiteLLM carries; nothing is fetched."""

import os
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from unittest import mock


def gpt_4_tokens() -> Callable[[str], int]:
    """A function that counts the tokens of a text."""
    import tiktoken

    package = find_spec("litellm")
    assert package is not None
    assert package.origin is not None
    folder = Path(package.origin).parent / "litellm_core_utils" / "tokenizers"
    with mock.patch.dict(os.environ, {"TIKTOKEN_CACHE_DIR": str(folder)}):
        encoding = tiktoken.get_encoding("cl100k_base")
    return lambda text: len(encoding.encode(text, disallowed_special=()))
