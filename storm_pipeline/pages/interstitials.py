"""Detecting interstitials shown in place of a page: consent walls, JavaScript notices, bot checks and paywalls."""

import re

_MAX_WORDS = 250
"""Interstitials are short: a longer text is a page."""

_NOTICE = re.compile(
    r"(?:enable|activate|turn on|requires?|without) java ?script"
    r"|java ?script (?:is (?:disabled|required|not enabled)|must be enabled|(?:deaktiviert|aktivieren|désactivé))"
    r"|(?:checking|verifying) (?:your browser|if the site connection|you are (?:a )?human|that you are)"
    r"|verify (?:that )?you(?:'|’| a)re (?:a |not a )?(?:human|robot)|are you (?:a )?(?:human|robot)"
    r"|just a moment\.\.\.|attention required|\bcaptcha\b|\bcloudflare\b|ddos protection"
    r"|access (?:to this page )?(?:has been )?(?:denied|blocked)|you (?:have been|are being) blocked"
    r"|unusual (?:traffic|activity) from your|too many requests|403 forbidden|404 not found|page not found"
    r"|(?:accept|manage|use of|uses) (?:all )?cookies|cookie (?:consent|settings|preferences)|before you continue"
    r"|subscribe to (?:continue|read)|(?:log|sign) in to (?:continue|read)|create an account to"
    r"|(?:javascript|cookies) (?:aktivieren|akzeptieren)|acceptez les cookies|acepta(?:r)? (?:las )?cookies"
    r"|javascriptを有効|启用 ?javascript|开启 ?javascript|請啟用 ?javascript",
    re.I,
)


def is_interstitial(text: str, words: float) -> bool:
    """Whether a text is only a notice that the page cannot be shown.

    Args:
        text: the main text of a page.
        words: its length, see :func:`storm_pipeline.documents.chunks.count_words`.
    """
    return words <= _MAX_WORDS and bool(_NOTICE.search(text))
