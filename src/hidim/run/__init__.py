"""Runs: the loop over an executor, its journal, its progress and its result."""
