"""Between the guard's messages and its domain."""
