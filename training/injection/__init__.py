"""How the classifier of prompt injection is made (ADR 0227): ``python -m training.injection``."""
