"""Long tests, kept out of `make test`: `make soak` runs them, and writes their figures to docs/soak.md."""
