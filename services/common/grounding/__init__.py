"""Whether passages support a claim: the pure part of the grounding model (windows, signals, combiner)."""
