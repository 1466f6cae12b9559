"""Tables that alignment and white alone hold together: which lines they are, their columns and rows (ADR 0114)."""
