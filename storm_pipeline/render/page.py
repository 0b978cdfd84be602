"""Set-up that all HTML pages share: autoescaping, and hashes for a Content-Security-Policy."""

import base64
import hashlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


def page_environment(package: str) -> "Environment":
    """A jinja2 environment for a package's folder ``templates``, with autoescaping and the filter ``csp_hash``."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["csp_hash"] = _csp_hash
    return environment


def _csp_hash(text: str) -> str:
    """A style's or script's source expression for a Content-Security-Policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
