"""Pickles read by a machine that imports and calls nothing."""
