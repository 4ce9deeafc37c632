"""Agents, the ladder of them for each id, and their evaluation."""
