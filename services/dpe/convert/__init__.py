"""Between ``crp.dpe.v1`` messages and the domain: nothing but translation."""
