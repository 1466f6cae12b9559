"""The guard's rules: coherence, oversight of streams, injection, verified claims (Director-AI page)."""
