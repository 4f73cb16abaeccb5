"""Checkpoints of a head whose prototypes are split over the ranks; see ``docs/sharding.md``."""
