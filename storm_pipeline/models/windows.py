"""How much a model can read at once, and how many words of evidence that has room for."""

from storm_pipeline.models.prices import listed_window
from storm_pipeline.settings import Role, Settings, is_embedded

CONTEXT = 16_384  # tokens of prompt and reply that the embedded model's server holds by default
ASSUMED = CONTEXT
"""Tokens assumed where nobody knows a window, to budget evidence and interviews; prompts are not shortened then."""
_EVIDENCE = 3 / 8
"""Share of a window that passages may take: 1,536 words at 8,192 tokens, where the paper's budgets just fit."""
_INTERVIEWS = 1 / 2  # share of a window that interviews may take in the prompt that refines an outline
_TOKENS_A_WORD = 2


def window_of(settings: Settings, role: Role) -> int | None:
    """Return the tokens of prompt and reply that a role's model holds: ``context``, else LiteLLM's; None if unknown."""
    name = settings.lm_of(role).removeprefix("object:")
    if is_embedded(name):
        return min(CONTEXT, settings.context or CONTEXT)
    return settings.context or listed_window(name)


def settled(settings: Settings) -> Settings:
    """Return the settings with evidence that fits writer and expert, and interviews that fit the outliner."""
    evidence = int(min(_readers(settings).values()) * _EVIDENCE / _TOKENS_A_WORD)
    interviews = int((window_of(settings, "outliner") or ASSUMED) * _INTERVIEWS / _TOKENS_A_WORD)
    evidence, interviews = min(settings.evidence_words, evidence), min(settings.interview_words, interviews)
    return settings.model_copy(update={"evidence": evidence, "outline_words": interviews})


def why_less(asked: Settings) -> str:
    """Return why a run has less evidence than is asked for or usual; empty if it has not."""
    words = settled(asked).evidence_words
    if words == asked.evidence_words or asked.is_extract:
        return ""
    readers = _readers(asked)
    role = min(readers, key=readers.__getitem__)
    known = window_of(asked, role)
    holds = f"holds {known:,} tokens" if known else f"is not known: {ASSUMED:,} tokens are assumed, see --context"
    return (
        f"a section is written from {words:,} words of passages at most, not {asked.evidence_words:,}: "
        f"the context window of {asked.lm_of(role)} {holds}"
    )


def longer_replies(settings: Settings, role: Role, token_limit: int) -> str:
    """Return what to do for longer replies, as the end of a sentence; ``token_limit``: of the embedded model's."""
    name, own = settings.lm_of(role), settings.reply_tokens
    if name.startswith("object:"):
        return "raise max_tokens of the model that was passed"
    if is_embedded(name) and (own is None or own >= token_limit):
        window = min(CONTEXT, settings.context or CONTEXT)
        more = f"raise --context (now {window:,}) or " if window < CONTEXT else ""
        return f"{more}name a larger model with --lm; the embedded one may write {token_limit:,} tokens here"
    return f"raise --reply-tokens (now {f'{own:,}' if own else 'not set: the limit is the server’s own'})"


def _readers(settings: Settings) -> dict[Role, int]:
    roles: tuple[Role, ...] = ("writer", "expert")
    return {role: window_of(settings, role) or ASSUMED for role in roles}
