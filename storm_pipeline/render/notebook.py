"""An article as a notebook shows it: its page in a frame of its own."""

from html import escape

from storm_pipeline.render.html import to_html
from storm_pipeline.types import Article

_SANDBOX = "allow-scripts allow-popups allow-popups-to-escape-sandbox allow-downloads"
_STYLE = "width: 100%; height: 40rem; border: 1px solid #ccc; border-radius: 8px; background: #fff"


def to_notebook(article: Article) -> str:
    """The page of :func:`to_html` in a sandboxed frame, apart from the notebook's own style and script."""
    title, page = escape(article.title), escape(to_html(article))
    return f'<iframe title="{title}" srcdoc="{page}" sandbox="{_SANDBOX}" style="{_STYLE}"></iframe>'
