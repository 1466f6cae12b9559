"""Which model stands behind an operator's result, as §6 wants it named (ADR 0073)."""

import re
from collections.abc import Sequence
from typing import Final

from services.common.encoding import canonical_json, sha256_hex
from services.ercp.domain.records import ModelIdentity

RULES: Final = ModelIdentity("groundtrail-ercp-rules", "1")
"""What runs without a model: extraction, mutation, predicates."""
_RESPONSE: Final = re.compile(r"[+;]sha256:([0-9a-f]{64})$")


def of_reply(model_fingerprint: str, text: str) -> ModelIdentity:
    """Return who wrote a reply: providers disclose no weights, so their metadata and the response's hash stand in."""
    named = _RESPONSE.sub("", model_fingerprint)
    name, _, version = named.partition("@")
    return ModelIdentity(
        model_name=name or "unknown",
        version=version,
        provider_metadata={"fingerprint": named},
        response_sha256=sha256_hex(text.encode("utf-8", "surrogatepass")),
    )


def of_models(role: str, fingerprints: Sequence[str]) -> ModelIdentity:
    """Return the identity of local models together: ``name@version+sha256:…`` each, and the digest of their list."""
    names = sorted(set(fingerprints))
    if not names:
        return RULES
    return ModelIdentity(role, "+".join(names)[:1_000], sha256_hex(canonical_json(names)))
