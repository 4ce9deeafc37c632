"""The task families, one folder each, and what at least two of them share (`core`)."""
