"""The rules of stage 1 as data: read once, compiled for RE2, so that no text can make one slow (ADR 0125).

A rule is a pattern over a text as it is read (``views``), in lower case. ``{name}`` in a pattern is a list of words of
the same file or of ``words.yaml``. Words that are as common in business and law count in full only ``beside`` what
speaks of a model, or asks it for something. Every rule has texts that it finds and texts that it must leave alone; a
test runs them all. ``FINGERPRINT`` names the rules that judged.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum, unique
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

import re2
import yaml

from services.common.injection.classes import WEIGHTS, PatternClass

RULES_VERSION: Final = "1"
_FOLDER: Final = f"data/rules/v{RULES_VERSION}"
_NAME: Final = re.compile(r"\{([a-z_]+)\}")
_MAX_MEMORY_BYTES: Final = 64 << 20
_DEPTH: Final = 4


@unique
class Voice(StrEnum):
    """How the words must be meant for a rule to count in full."""

    ANY = "any"
    COMMAND = "command"
    """As an order to the reader; what others do, could do or must not do is a report."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        rule_id: stable; what reports cite.
        pattern_class: of what it is a sign.
        weight: the class's, unless the rule has its own.
        tells: what it says of a text, for people.
        pattern: what it looks for.
        voice: how it must be meant.
        unless_before: no match right after this; ``None`` = anywhere.
        unless_after: no match right before this.
        beside: what must stand near for the match to count in full; ``None`` = nothing.
        alone_after: ``beside`` is asked for only right before this; ``None`` = everywhere.
        finds: texts that it finds.
        leaves: texts that it must leave alone.
    """

    rule_id: str
    pattern_class: PatternClass
    weight: float
    tells: str
    pattern: "re2._Regexp[str]"
    voice: Voice
    unless_before: "re2._Regexp[str] | None"
    unless_after: "re2._Regexp[str] | None"
    beside: "re2._Regexp[str] | None"
    alone_after: "re2._Regexp[str] | None"
    finds: tuple[str, ...]
    leaves: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RuleSet:
    """All rules, and what tells in one pass which of them can match.

    Attributes:
        rules: all, in the order of their files.
        fingerprint: version and digest of the files.
    """

    rules: tuple[Rule, ...]
    fingerprint: str
    _filter: "re2.Filter"

    def matching(self, text: str) -> list[Rule]:
        """Return the rules that match somewhere in a text that is folded."""
        return [self.rules[index] for index in sorted(self._filter.Match(text) or ())]


@lru_cache(maxsize=1)
def rule_set() -> RuleSet:
    """Return the rules of the data files."""
    folder = files("services.common.injection").joinpath(_FOLDER)
    contents = {one.name: one.read_bytes() for one in sorted(folder.iterdir(), key=lambda one: one.name)}
    shared = _words(yaml.safe_load(contents["words.yaml"])["words"])
    loaded = [yaml.safe_load(content) for name, content in contents.items() if name != "words.yaml"]
    written = [one for document in loaded for one in _written(document, shared)]
    rules = tuple(rule for rule, _ in written)
    finding = re2.Filter()
    for _, pattern in written:
        finding.Add(pattern, options())
    finding.Compile()
    digest = hashlib.sha256(b"\0".join(name.encode() + b"\0" + content for name, content in contents.items()))
    return RuleSet(rules, f"injection-rules@{RULES_VERSION}+sha256:{digest.hexdigest()[:16]}", finding)


def _written(document: Mapping[str, Any], shared: Mapping[str, str]) -> Iterator[tuple[Rule, str]]:
    words = {**shared, **_words(document.get("words", {}))}
    pattern_class = PatternClass(document["class"])
    for rule in document["rules"]:
        pattern = _expanded(rule["pattern"], words)
        yield (
            Rule(
                rule["id"],
                pattern_class,
                rule.get("weight", WEIGHTS[pattern_class]),
                rule.get("tells", document["tells"]),
                compiled(pattern),
                Voice(rule.get("voice", Voice.ANY)),
                _optional(rule.get("unless_before"), words, "(?:{})$"),
                _optional(rule.get("unless_after"), words, "^(?:{})"),
                _optional(rule.get("beside"), words, "(?:{})"),
                _optional(rule.get("alone_after"), words, "^(?:{})"),
                tuple(rule["finds"]),
                tuple(rule["leaves"]),
            ),
            pattern,
        )


def _words(listed: Mapping[str, str]) -> dict[str, str]:
    return {name: "(?:" + "|".join(text.split()).replace("_", r"\s+") + ")" for name, text in listed.items()}


def _expanded(pattern: str, words: Mapping[str, str]) -> str:
    for _ in range(_DEPTH):
        pattern = _NAME.sub(lambda found: words[found[1]], pattern)
    return "".join(pattern.split("\n"))


def _optional(pattern: str | None, words: Mapping[str, str], form: str) -> "re2._Regexp[str] | None":
    return None if pattern is None else compiled(form.replace("{}", _expanded(pattern, words)))


def compiled(pattern: str) -> "re2._Regexp[str]":
    """Compile a pattern for RE2."""
    return re2.compile(pattern, options=options())


def options() -> "re2.Options":
    """Return how every rule is compiled."""
    chosen = re2.Options()
    chosen.max_mem = _MAX_MEMORY_BYTES
    chosen.log_errors = False
    return chosen
