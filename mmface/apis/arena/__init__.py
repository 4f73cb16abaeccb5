"""Recipes against each other: same data, same seeds, same schedule, and intervals that say when there is nothing to tell."""
from .all_pairs import AllPairs, Rates
from .arena_data import ArenaData, open_data, write_lfw, write_procedural
from .compared_pairs import draw_listed_pairs, genuine_pairs
from .difference import Estimate, estimate
from .experiments import EXPERIMENTS, Row, View
from .setting import FURTHER, LOSSES, SETTINGS, Setting
from .train_all import train_all
from .train_one import train_one
from .training import Training, identity, training_config

__all__ = [
    'EXPERIMENTS', 'FURTHER', 'LOSSES', 'SETTINGS', 'AllPairs', 'ArenaData', 'Estimate', 'Rates', 'Row', 'Setting', 'Training', 'View',
    'draw_listed_pairs', 'estimate', 'genuine_pairs', 'identity', 'open_data', 'train_all', 'train_one', 'training_config', 'write_lfw',
    'write_procedural'
]
