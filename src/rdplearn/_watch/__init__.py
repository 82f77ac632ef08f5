"""Has the world changed since a model was fitted? Counts beside counts, then a verdict, then words."""
