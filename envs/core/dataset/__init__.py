"""Data sets: problems as files, their prose, and the scores of answers to them."""
