"""What a text says, by rules: its sentences and clauses, its values in comparable form, and what each is said of.

The provenance engine lines claims up with facts by it (SPEC-005 §5.3), the envelope facts with one another (ADR 0113),
the constraint loop a draft with what is demanded of it (ERCP 1.0 §7). Pure; linear in the text.
"""
