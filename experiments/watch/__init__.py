"""Does `watch` say "refit" when the world has changed, and only then? Run it with ``python -m experiments.watch``."""
