"""Set-up that all HTML pages share: autoescaping, and hashes for a Content-Security-Policy."""

import base64
import hashlib
from typing import TYPE_CHECKING

from storm_pipeline.text.words import without_controls

if TYPE_CHECKING:
    from jinja2 import Environment


def page_environment(package: str) -> "Environment":
    """A jinja2 environment for a package's folder ``templates``: autoescaping, no control characters, ``csp_hash``."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    environment.filters["csp_hash"] = _csp_hash
    return environment


def _shown(value: object) -> object:
    """A value as a page holds it: no text of whatever origin has control characters."""
    return without_controls(value) if type(value) is str else value


def _csp_hash(text: str) -> str:
    """A style's or script's source expression for a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
