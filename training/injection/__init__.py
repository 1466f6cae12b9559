"""How the classifier of prompt injection is made (ADR 0126): ``python -m training.injection``."""
