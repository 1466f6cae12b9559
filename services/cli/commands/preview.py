"""``groundtrail preview | envelope "…"``: what a question would get to see, and how full the window is with it."""

from dataclasses import dataclass
from typing import Final

from crp.common.v1 import taxonomy_pb2 as taxonomy
from crp.envelope.v1 import envelope_pb2
from crp.envelope.v1 import envelope_service_pb2 as envelopes
from rich.text import Text

from services.allinone.parts import Part
from services.cli import render
from services.cli.connection import connect
from services.cli.console import Output
from services.cli.exits import Exit
from services.cli.words import enum_text, time_mark
from services.common.counting import counted
from services.common.settings import Settings
from services.common.taxonomy import GroundingMode
from services.dag.exports.plain import plain

BAR_CELLS: Final = 40
_CONTENT_CHARS: Final = 72
_TIER_STYLES: Final = {"S": "bold green", "A": "green", "B": "cyan", "C": "yellow", "D": "bold red"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """The envelope that is asked for; empty model = that of the settings, budget 0 = what the window leaves."""

    question: str
    model: str
    budget: int
    mode: str
    include_superseded: bool = False


async def preview(settings: Settings, output: Output, wanted: Wanted) -> Exit:
    """Assess an envelope without a session: facts, tokens, tier, saturation and the headers they become (§12)."""
    request = envelopes.PreviewEnvelopeRequest(
        query=wanted.question,
        model=wanted.model or _own_model(settings),
        grounding_mode=_mode(wanted.mode),
        max_envelope_tokens=wanted.budget or None,
        include_superseded=wanted.include_superseded,
        approximate_tokens=True,  # as a dispatch of the same model would be counted (ADR 0217)
        context_window_tokens=settings.gateway.assumed_window_tokens,
    )
    async with connect(settings, Part.KNOWLEDGE) as suite:
        found: envelopes.PreviewEnvelopeResponse = await suite.call(suite.envelopes.PreviewEnvelope, request)
    _show_preview(found.preview, found.quality, found.token_counting, output)
    _show_warnings(tuple(found.warnings), output)
    output.result(render.response_json(found))
    return Exit.OK


async def envelope(settings: Settings, output: Output, wanted: Wanted) -> Exit:
    """Build an envelope without a session and list its facts in prompt order, then those that did not fit."""
    request = envelopes.BuildEnvelopeRequest(
        query=wanted.question,
        model=wanted.model or _own_model(settings),
        grounding_mode=_mode(wanted.mode),
        max_envelope_tokens=wanted.budget or None,
        include_superseded=wanted.include_superseded,
        approximate_tokens=True,  # as a dispatch of the same model would be counted (ADR 0217)
        context_window_tokens=settings.gateway.assumed_window_tokens,
    )
    async with connect(settings, Part.KNOWLEDGE) as suite:
        found: envelopes.BuildEnvelopeResponse = await suite.call(suite.envelopes.BuildEnvelope, request)
    built = found.envelope
    rows = [
        (
            str(fact.position),
            f"{fact.composite_score:.3f}",
            f"{fact.relevance_score:.3f}",
            f"{fact.importance_weight:.2f}",
            str(fact.token_count),
            time_mark(fact.stale_reason) + plain(fact.content, _CONTENT_CHARS),
        )
        for fact in built.facts
    ]
    if rows:
        output.table("Facts, in prompt order", ("#", "score", "relevance", "importance", "tokens", "fact"), rows)
    shown = envelope_pb2.EnvelopePreview(
        facts_available=built.total_facts_available,
        facts_included=built.total_facts_included,
        estimated_tokens=built.token_count,
        quality_tier=built.quality_tier,
        saturation=built.saturation,
        etag=built.etag,
        communities=built.ckf_communities,
        memory_tier_hit=built.memory_tier_hit,
        token_budget=built.token_budget,
    )
    _show_preview(shown, found.quality, built.token_counting, output)
    if found.deferred_facts:
        tokens = sum(fact.token_count for fact in found.deferred_facts)
        output.say(
            f"deferred: {counted(len(found.deferred_facts), 'fact')} of {tokens} tokens left for the next window",
            "yellow",
        )
    _show_warnings(tuple(found.warnings), output)
    output.result(render.response_json(found))
    return Exit.OK


def saturation_bar(saturation: float) -> tuple[str, str]:
    """Return the filled and the empty cells of a bar; full only when nothing is left."""
    filled = min(BAR_CELLS, int(saturation * BAR_CELLS))
    return "█" * filled, "░" * (BAR_CELLS - filled)


def _own_model(settings: Settings) -> str:
    """Return the model that these settings answer with."""
    return settings.llm.model if settings.llm.configured else settings.gateway.extractive_model


def _mode(name: str) -> str:
    return f"GROUNDING_MODE_{GroundingMode(name).name}"


def _show_preview(
    found: envelope_pb2.EnvelopePreview,
    quality: envelope_pb2.QualityAssessment,
    counting: envelope_pb2.TokenCounting,
    output: Output,
) -> None:
    tier = enum_text(taxonomy.QualityTier, found.quality_tier)
    how = f"{counting.tokenizer}, approximate" if counting.approximate else counting.tokenizer
    community = plain(found.communities[0]) if found.communities else "none"
    rows: list[tuple[str | Text, ...]] = [
        ("facts", f"{found.facts_included}/{found.facts_available}", "CRP-Context-Facts-Used"),
        ("tokens", f"{found.estimated_tokens} of {found.token_budget} ({how})", "CRP-Context-Tokens-Used"),
        ("tier", Text(tier, style=_TIER_STYLES.get(tier, "")), "CRP-Context-Quality-Tier"),
        ("score", _score(quality), ""),
        ("saturation", f"{found.saturation:.3f}, {_words(quality)}", "CRP-Context-Saturation"),
        ("ETag", found.etag, "CRP-Context-ETag"),
        ("community", community, "CRP-Memory-CKF-Community"),
        ("memory tier", str(found.memory_tier_hit), "CRP-Memory-Tier-Hit"),
    ]
    rules = [envelope_pb2.TierRule.Name(rule).removeprefix("TIER_RULE_") for rule in quality.rules]
    if rules:
        rows.append(("capped by", ", ".join(rules), ""))
    output.table("Envelope", ("what", "value", "header"), rows)
    filled, empty = saturation_bar(found.saturation)
    output.drawn([(filled, _TIER_STYLES.get(tier, "")), (empty, "dim"), (f" {found.saturation:.1%}", "bold")])


def _score(quality: envelope_pb2.QualityAssessment) -> str:
    relevance = f"{quality.relevance_mean:.3f}" if quality.HasField("relevance_mean") else "none"
    return f"{quality.quality_score:.3f} (coverage {quality.coverage_score:.3f}, relevance {relevance})"


def _words(quality: envelope_pb2.QualityAssessment) -> str:
    name = envelope_pb2.SaturationBand.Name(quality.saturation_band)
    return name.removeprefix("SATURATION_BAND_").lower().replace("_", " ")


def _show_warnings(warnings: tuple[str, ...], output: Output) -> None:
    for warning in warnings:
        output.say(f"note: {warning}", style="yellow")
