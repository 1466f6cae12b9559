"""Between the wire's messages and the apps' values."""
