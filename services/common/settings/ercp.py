"""Settings of the ERCP service: bounds of runs and requests, the key that signs, who may ask for what (ERCP 1.0)."""

from pathlib import Path
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator


class ErcpSettings(BaseModel):
    """How runs are bounded and signed; environment prefix ``GROUNDTRAIL_ERCP__``."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_duration_s: float = Field(default=600.0, gt=0.0, le=3600.0)
    """Longest time that one Run may take, in seconds, and the default of ``max_duration_ms``; 0-3600, default 600."""

    reserve_s: float = Field(default=0.5, ge=0.0, le=60.0)
    """Time of the caller's deadline kept back so that a run can say how far it came, in seconds; default 0.5."""

    max_reasoning_chars: int = Field(default=100_000, ge=100, le=500_000)
    """Longest candidate that is verified, in Unicode code points; of a longer one the rest is cut off and the cut is a
    syntax_error. 100-500000, default 100000."""

    max_nli_pairs: int = Field(default=300, ge=1, le=10_000)
    """Most sentence pairs of one text that the entailment model reads, both ways, in one batch; above it those that
    share most content words are taken (ADR 0074). 1-10000, default 300."""

    max_suspicion_pairs: int = Field(default=400, ge=0, le=10_000)
    """Most pairs of a constraint's words and a part of the text that the entailment model reads for constraints that
    rules leave undecided, in one batch; constraints beyond stay undecided (ADR 0117). 0 turns the second detector off.
    0-10000, default 400."""
    sentence_heads: Literal["on", "off"] = "on"
    """Whether heads on the NLI encoder say what sentences are (order, justification, condition, definition, assumption,
    result) and what two of them are to each other, where no exact rule does (ADR 0118): on, or off, and what no rule
    says stays open. They take the encoder's memory a second time, from the first verification on. Default on."""

    solver_deadline_ms: int = Field(default=2_000, ge=1, le=60_000)
    """Longest time of one check of all predicates, in milliseconds; then the set counts as unknown. Default 2000."""

    max_reframes: int = Field(default=1, ge=0, le=10)
    """Most times that a run states its problem in other words when it makes no progress; 0-10, default 1."""

    max_decompositions: int = Field(default=1, ge=0, le=10)
    """Most times that a run splits its problem when it makes no progress; 0-10, default 1."""

    allow_undecided: bool = False
    """Whether a run may converge although nobody knows whether an immutable constraint is kept; what a config that does
    not say ``allow_undecided`` takes (ADR 0115). Default false: such a run ends as partial, UNDECIDED."""

    grounds: Literal["confirmed", "given", "off"] = "confirmed"
    """What every statement of a candidate needs for a run to converge; else it ends as partial, NOT_GROUNDED (ADR
    0185): given, a fact or passage bears it out; confirmed, or the model, asked for its ground, wrote it again; off,
    nothing: it is enough that no error was found. Default confirmed."""
    proposed_predicates: Literal["off", "take"] = "off"
    """Whether a constraint whose words no rule understands gets the predicate that the language model proposes (ADR
    0116): take, or off, and it is refused with the reason. Default off: look at a proposal with ``groundtrail ercp
    constraint --propose`` and send it as the constraint's predicate."""

    words_not_understood: Literal["refuse", "suspect"] = "refuse"
    """What becomes of a constraint whose words nothing understands (ADR 0117): refuse, with the reason, or suspect: it
    is held as the predicate InWords, which no rule decides and only the entailment model suspects. An immutable one is
    never kept then, so that no run converges with it. Default refuse."""

    high_priority_role: Literal["reader", "writer", "admin"] = "writer"
    """Role that a problem whose metadata says ``priority: high`` needs (ERCP 1.0 §11: optional; ADR 0079).
    Default writer: whoever may run may say so. admin keeps such problems to administrators."""

    redact_personal_data: bool = True
    """Whether personal data is taken out of the texts in traces (ERCP 1.0 §11). Default true."""

    token_model: str = Field(default="gpt-4o-mini", min_length=1)
    """Model whose tokenizer and context window envelopes are budgeted with; default gpt-4o-mini."""

    extractive_max_sentences: int = Field(default=5, ge=1, le=50)
    """Most sentences of a candidate that the built-in extractive answerer writes; 1-50, default 5."""

    extractive_min_score: float = Field(default=0.30, ge=0.0, le=1.0)
    """Least score of a sentence for it to enter such a candidate; 0.0-1.0, default 0.30."""

    node_key: SecretStr | None = None
    """The key of node signatures, 64 hex digits, instead of a file. Default: unset."""

    node_key_file: Path | None = None
    """File with that key (mode 0600, 64 hex digits). Default: ``keys/ercp-node.key`` under the data directory."""

    create_node_key: bool = True
    """Create the file (32 random bytes) when it is not there; default true. Several processes need the same key."""

    previous_node_keys: tuple[SecretStr, ...] = ()
    """Keys of before, 64 hex digits each, as a JSON list: signatures under them still hold. Default: none."""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        """Refuse two sources of the key."""
        if self.node_key is not None and self.node_key_file is not None:
            msg = "set one of node_key and node_key_file"
            raise ValueError(msg)
        return self
