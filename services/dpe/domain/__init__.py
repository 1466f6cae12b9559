"""The pure part: stages, rules and scores. No input, no output, no clock."""
