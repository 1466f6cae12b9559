"""Tables that alignment and white alone hold together: which lines they are, their columns, rows and heads (ADR 0114)."""
