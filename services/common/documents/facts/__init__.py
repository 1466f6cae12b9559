"""From a document's blocks to facts that can be read alone (CRP-SPEC-009, ADR 0106); ``chunking`` is the way in."""
