"""The pure rules of sessions and windows: no clock, no randomness, no input or output."""
