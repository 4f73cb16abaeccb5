"""How large a comparison is."""
from dataclasses import dataclass, field

#: The six losses of the small setting, by the name that tables call them.
LOSSES: dict[str, dict] = {
    'ArcFace': dict(type='ArcFaceLoss', s=32., m=.3),
    'CosFace': dict(type='CosFaceLoss', s=32., m=.2),
    'CurricularFace': dict(type='CurricularFaceLoss', s=32., m=.3),
    'AdaFace': dict(type='AdaFaceLoss', s=32., m=.3, h=.333),
    'GB-CosFace': dict(type='GBCosFaceLoss', s=32., m=.1, alpha=.15),
    'P2SGrad': dict(type='P2SGradLoss'),
}
#: The others that train from scratch, at comparable scales and margins.
FURTHER: dict[str, dict] = {
    'Softmax': dict(type='SoftmaxLoss'),
    'L2-Softmax': dict(type='L2SoftmaxLoss', alpha=32.),
    'NormFace': dict(type='NormFaceLoss', s=32.),
    'COCO': dict(type='COCOLoss', alpha=32.),
    'L-Softmax': dict(type='LSoftmaxLoss'),
    'SphereFace': dict(type='SphereFaceLoss'),
    'Combined': dict(type='CombinedMarginLoss', s=32., m1=1., m2=.2, m3=.1),
    'AdaCos': dict(type='AdaCosLoss'),
    'MV-Softmax': dict(type='MVSoftmaxLoss', s=32., m=.2),
    'MagFace': dict(type='MagFaceLoss', s=32., l_m=.2, u_m=.4),
    'ElasticFace': dict(type='ElasticFaceLoss', s=32., m=.3),
    'SphereFace-R': dict(type='SphereFaceRLoss'),
    'SphereFace2': dict(type='SphereFace2Loss'),
    'UniFace': dict(type='UniFaceLoss', s=32., m=.2),
}
_QUARTER_WIDTH = {'model.backbone.width': .25}


@dataclass(frozen=True)
class Setting:
    """Sizes of everything.

    Attributes:
        losses: by the name that tables call them; the first is the baseline.
        seeds: of the trainings.
        epochs: by the data set's name; a multiple of four, so that the quarters are moments at which there is a checkpoint.
        batch: images a step.
        procedural: people and pictures of each, for training; then for the test.
        replicates: drawn sets of people.
        learning_rates, alphas, margins, spreads: what the sweeps try (``spreads`` is AdaFace's h).
        changes: to the configs, by the data set's name, with dots in the keys of nested ones.
    """
    losses: dict[str, dict]
    seeds: tuple[int, ...]
    epochs: dict[str, int]
    batch: int
    procedural: tuple[int, int, int, int]
    replicates: int
    learning_rates: tuple[float, ...] = (1., 1e-1, 1e-2, 1e-3, 1e-4)
    alphas: tuple[float, ...] = (0., .2, .4, .6, .8, 1.)
    margins: tuple[float, ...] = (.2, .3, .4)
    spreads: tuple[float, ...] = (0., .222, .333, .666)
    changes: dict[str, dict] = field(default_factory=dict)


def affordable_epochs(trainings: int, images: int, hours: float = 3., rate: float = 190.) -> int:
    """The longest schedule, in quarters of whole epochs, that so many trainings can have in that time, a tenth of it left for tests.

    Args:
        trainings: all of a comparison.
        images: of the training set.
        hours: of all processes together, side by side.
        rate: images/s of all processes together: on two cores, MobileFaceNet at 56 x 56.
    """
    return int(.9 * hours * 3600 * rate / (trainings * images)) // 4 * 4


SETTINGS: dict[str, Setting] = {
    'smoke': Setting(
        losses={name: LOSSES[name] for name in ('ArcFace', 'P2SGrad')}, seeds=(0, 1, 2), epochs=dict(lfw=4, procedural=4), batch=16,
        procedural=(12, 8, 10, 4), replicates=200, learning_rates=(1e-1, 1e-4), alphas=(0., 1.), margins=(.2, ), spreads=(.333, ),
        changes=dict(lfw=_QUARTER_WIDTH, procedural=_QUARTER_WIDTH)),
    'small': Setting(
        losses=LOSSES, seeds=(0, 1, 2), epochs=dict(lfw=affordable_epochs(18, 7829), procedural=8), batch=64,
        procedural=(300, 10, 150, 5), replicates=1000, changes=dict(procedural=_QUARTER_WIDTH)),
    'full': Setting(
        losses=LOSSES | FURTHER, seeds=(0, 1, 2, 3, 4), epochs=dict(lfw=40, procedural=16), batch=64, procedural=(600, 16, 300, 5),
        replicates=2000),
}
