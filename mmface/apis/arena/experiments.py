"""The questions that a comparison can ask, as rows of a table."""
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .setting import LOSSES, Setting
from .train_one import CLEAN, DEGRADED, MARKS
from .training import Training

Recipe = Callable[[int], Training]  # from a seed


@dataclass(frozen=True)
class View:
    """What is looked at of a recipe's trainings.

    Attributes:
        recipe: of a seed.
        mark: share of the schedule.
        test: ``'clean'`` or ``'degraded'``.
    """
    recipe: Recipe
    mark: float = 1.
    test: str = CLEAN

    @property
    def file(self) -> str:
        """The embeddings."""
        return f'{self.test}_{self.mark:g}.npy'


@dataclass(frozen=True)
class Row:
    """A line of the tables, with what it is compared to, or None."""
    label: str
    view: View
    baseline: View | None


def losses(setting: Setting) -> list[Row]:
    """Every loss against the first."""
    views = {name: View(_recipe(loss)) for name, loss in setting.losses.items()}
    return _against_first(views)


def learning_rates(setting: Setting) -> list[Row]:
    """P2SGrad, Table 1: does a training get away from the network as drawn?"""
    recipes = {f'{name}, {lr:g}': _recipe(loss, lr=lr) for name, loss in setting.losses.items() for lr in setting.learning_rates}
    return [Row(label, View(recipe), View(recipe, 0.)) for label, recipe in recipes.items()]


def schedule(setting: Setting) -> list[Row]:
    """P2SGrad, Table 2: every loss against the first at a quarter, half, three quarters and the end."""
    return [row for mark in MARKS[1:] for row in _against_first({
        f'{name}, {mark:.0%}': View(_recipe(loss), mark) for name, loss in setting.losses.items()
    })]  # yapf: disable


def alpha(setting: Setting) -> list[Row]:
    """GB-CosFace: how much of the global boundary? At 0 the loss is CosFace with twice the margin."""
    return _against_first({f'alpha {alpha:g}': View(_recipe(_changed(setting, 'GB-CosFace', alpha=alpha))) for alpha in setting.alphas})


def adaface(setting: Setting) -> list[Row]:
    """AdaFace: m and h against the setting's own."""
    own = setting_loss(setting, 'AdaFace')
    variants = [dict(m=m) for m in setting.margins] + [dict(h=h) for h in setting.spreads]
    rows = [Row(f'AdaFace, m {own["m"]:g}, h {own["h"]:g}', View(_recipe(own)), None)]
    for variant in variants:
        if own | variant != own:
            changed = own | variant
            rows.append(Row(f'AdaFace, m {changed["m"]:g}, h {changed["h"]:g}', View(_recipe(changed)), rows[0].view))
    return rows


def augmentation(setting: Setting) -> list[Row]:
    """AdaFace, CurricularFace and ArcFace with and without AdaFace's augmentations, on clean and on degraded pictures."""
    rows: list[Row] = []
    for test in (CLEAN, DEGRADED):
        recipes = {f'{name}{", augmented" if augmented else ""}, {test}': _recipe(setting_loss(setting, name), augmented=augmented)
                   for name in ('ArcFace', 'CurricularFace', 'AdaFace') for augmented in (False, True)}
        rows += _against_first({label: View(recipe, 1., test) for label, recipe in recipes.items()})
    return rows


def sampling(setting: Setting) -> list[Row]:
    """P2SGrad and ArcFace with all classes at each step or with those of the batch and a tenth of the others."""
    rows: list[Row] = []
    for name in ('ArcFace', 'P2SGrad'):
        for lr in (.1, 1.):
            loss = setting_loss(setting, name)
            rows += _against_first({f'{name}, {classes}, {lr:g}': View(_recipe(loss, lr=lr, ratio=ratio))
                                    for classes, ratio in (('all classes', 1.), ('a tenth', .1))})  # yapf: disable
    return rows


EXPERIMENTS: dict[str, Callable[[Setting], list[Row]]] = {
    'losses': losses,
    'learning-rates': learning_rates,
    'schedule': schedule,
    'alpha': alpha,
    'adaface': adaface,
    'augmentation': augmentation,
    'sampling': sampling,
}


def setting_loss(setting: Setting, name: str) -> dict:
    """The loss of that name, whether or not the setting compares it."""
    return setting.losses.get(name) or LOSSES[name]


def _recipe(loss: dict, **changes: Any) -> Recipe:
    return lambda seed: Training(loss, seed, **changes)


def _changed(setting: Setting, name: str, **changes: Any) -> dict:
    return setting_loss(setting, name) | changes


def _against_first(views: dict[str, View]) -> list[Row]:
    first = next(iter(views.values()))
    return [Row(label, view, None if view is first else first) for label, view in views.items()]
