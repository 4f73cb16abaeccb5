"""LMDB sets."""
