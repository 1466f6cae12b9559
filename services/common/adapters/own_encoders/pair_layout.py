"""How an encoder is given premise and hypothesis: by its tokenizer's template for pairs, or by one that a person names.

A template is text with ``{premise}`` and ``{hypothesis}``; special tokens stand in it as the tokenizer spells them.
The parts around the texts are tokenised once. That a pair put together from parts has the token ids that the tokenizer
gives the whole at once is held with probes, since windows over long texts are cut from ids.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tokenizers import Tokenizer

from services.common.adapters.encoders.backend import TokenIds
from services.common.adapters.encoders.tokenizer import EncoderTokenizer, pair_specials
from services.common.adapters.own_encoders.refusals import OwnModelError, Refusal
from services.common.model_repository import ModelRepositoryError, PairLayout

PREMISE: Final = "{premise}"
HYPOTHESIS: Final = "{hypothesis}"
PAD_TOKENS: Final = ("[PAD]", "<pad>", "<|padding|>")


def open_tokenizer(text: str) -> Tokenizer:
    """Return the library's tokenizer.

    Raises:
        OwnModelError: TOKENIZER_UNUSABLE.
    """
    try:
        tokenizer = Tokenizer.from_str(text)
    except Exception as error:  # the library raises bare Exception
        raise OwnModelError(Refusal.TOKENIZER_UNUSABLE, f"tokenizer.json cannot be loaded: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def layout_of(
    tokenizer: Tokenizer, config: Mapping[str, Any], template: str | None, *, hypothesis_first: bool, types: bool
) -> PairLayout:
    """Return the layout of pairs.

    Args:
        tokenizer: the model's own.
        config: ``config.json``; names the token for padding.
        template: as in the module's head; ``None`` = the tokenizer's own.
        hypothesis_first: the tokenizer's first text is the hypothesis; a template says so itself.
        types: the graph reads ``token_type_ids``, and the tokenizer is meant to give them; else they are 0.

    Raises:
        OwnModelError: TEMPLATE_INVALID, TOKENIZER_UNUSABLE.
    """
    pad = _pad(tokenizer, config)
    if template is not None:
        return _of_template(tokenizer, template.replace("\\n", "\n"), pad, types=types)
    try:
        before, between, after = pair_specials(tokenizer)
    except ModelRepositoryError as error:
        raise OwnModelError(Refusal.TOKENIZER_UNUSABLE, f"{error}; name a layout with --template") from error
    if not between:
        raise OwnModelError(
            Refusal.TOKENIZER_UNUSABLE,
            "tokenizer.json puts nothing between two texts, which then run together; name a layout with --template",
        )
    separator = _separator(tokenizer, between) if types else None
    return PairLayout(
        before=before, between=between, after=after, hypothesis_first=hypothesis_first, separator=separator, pad_id=pad
    )


def check_parity(tokenizer: Tokenizer, layout: PairLayout, pairs: Sequence[tuple[str, str]]) -> None:
    """Hold pairs put together from parts against what the tokenizer gives the whole.

    Raises:
        OwnModelError: TOKENS_DIFFER: with both sides.
    """
    whole = Tokenizer.from_str(tokenizer.to_str())
    ours = EncoderTokenizer(Tokenizer.from_str(tokenizer.to_str()), layout)
    for premise, hypothesis in pairs:
        first, second = ours.ids([premise, hypothesis])
        parts, expected = ours.pair(first, second), _at_once(whole, layout, premise, hypothesis)
        if parts != expected:
            hint = (
                "put a space or a special token around the texts in the template"
                if layout.template
                else "name a template"
            )
            raise OwnModelError(
                Refusal.TOKENS_DIFFER,
                f"the pair {(premise, hypothesis)!r} has the token ids {list(parts)} in parts and {list(expected)} "
                f"at once; {hint}",
            )


def _at_once(tokenizer: Tokenizer, layout: PairLayout, premise: str, hypothesis: str) -> TokenIds:
    if layout.template:
        text = layout.template.replace(PREMISE, premise).replace(HYPOTHESIS, hypothesis)
        return tuple(tokenizer.encode(text, add_special_tokens=False).ids)
    texts = (hypothesis, premise) if layout.hypothesis_first else (premise, hypothesis)
    return tuple(tokenizer.encode(*texts).ids)


def _of_template(tokenizer: Tokenizer, template: str, pad: int, *, types: bool) -> PairLayout:
    if template.count(PREMISE) != 1 or template.count(HYPOTHESIS) != 1:
        raise OwnModelError(Refusal.TEMPLATE_INVALID, f"--template needs {PREMISE} and {HYPOTHESIS}, each once")
    hypothesis_first = template.index(HYPOTHESIS) < template.index(PREMISE)
    first, second = (HYPOTHESIS, PREMISE) if hypothesis_first else (PREMISE, HYPOTHESIS)
    before, rest = template.split(first)
    between, after = rest.split(second)
    ids = [tuple(tokenizer.encode(part, add_special_tokens=False).ids) for part in (before, between, after)]
    if not ids[1]:
        raise OwnModelError(Refusal.TEMPLATE_INVALID, "--template has nothing between the two texts")
    return PairLayout(
        before=ids[0],
        between=ids[1],
        after=ids[2],
        hypothesis_first=hypothesis_first,
        template=template,
        separator=ids[1][-1] if types else None,
        pad_id=pad,
    )


def _separator(tokenizer: Tokenizer, between: TokenIds) -> int | None:
    """Return the token after which the tokenizer numbers its segments 1 in place of 0; ``None`` = it never does."""
    encoding = tokenizer.encode("a", "a")
    if not any(encoding.type_ids):
        return None
    separator = between[0]
    ends = encoding.ids.index(separator) + 1
    expected = [int(place >= ends) for place in range(len(encoding.ids))]
    if encoding.type_ids != expected:
        raise OwnModelError(
            Refusal.TOKENIZER_UNUSABLE,
            f"tokenizer.json numbers its segments {encoding.type_ids}; read is 0 up to a separator and 1 after it",
        )
    return separator


def _pad(tokenizer: Tokenizer, config: Mapping[str, Any]) -> int:
    named = config.get("pad_token_id")
    if isinstance(named, int) and not isinstance(named, bool) and named >= 0:
        return named
    return next((found for mark in PAD_TOKENS if (found := tokenizer.token_to_id(mark)) is not None), 0)
