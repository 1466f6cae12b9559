"""Reproducible measurements, each a ratio against a named baseline in the same run (``make bench``)."""
