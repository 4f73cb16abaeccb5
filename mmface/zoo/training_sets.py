"""The field's training sets by how many identities a head has."""
import re

#: Identities: of the list that is distributed, then of others in use.
CLASSES = {
    'CASIA-WebFace': (10572, 10575),
    'MS1MV2': (85742, ),
    'MS1MV3': (93431, ),
    'VGGFace2': (9131, 8631),
    'Glint360K': (360232, ),
    'WebFace4M': (205990, ),
    'WebFace12M': (617970, ),
    'WebFace42M': (2059906, ),
}
_OTHER_NAMES = {'casia': 'CASIA-WebFace', 'ms1marcface': 'MS1MV2', 'emore': 'MS1MV2', 'ms1mretinaface': 'MS1MV3', 'wf4m': 'WebFace4M',
                'wf12m': 'WebFace12M', 'wf42m': 'WebFace42M', 'webface260m': 'WebFace42M'}  # yapf: disable


def check_classes(training_set: str, num_classes: int) -> str:
    """A warning where a head's number of classes is not that of the set that it is said to come from; else an empty text.

    Published files have been mislabelled: AdaFace's issue 141 is a "MS1MV2" file with the head of WebFace4M.
    """
    known = {_fold(name): name for name in CLASSES} | _OTHER_NAMES
    stated = known.get(_fold(training_set))
    likely = [name for name, counts in CLASSES.items() if num_classes in counts]
    if stated is not None and num_classes not in CLASSES[stated]:
        others = f'; {num_classes} is that of {likely[0]}' if likely else ''
        counts = ' or '.join(map(str, CLASSES[stated]))
        return f'the head has {num_classes} classes, but {stated} has {counts}{others}: is the file mislabelled?'
    if stated is None and likely and training_set == 'unknown':
        return f'the head has {num_classes} classes, as many as {likely[0]}: if it comes from there, say --training-set {likely[0]}'
    return ''


def _fold(name: str) -> str:
    return re.sub(r'[^a-z0-9]', '', name.lower())
