"""From an entry of the zoo to the file of its weights."""
from pathlib import Path

from mmface.utils.cache_folder import cache_folder

from .download import download, sha256_of
from .entry import PACKAGE, ModelEntry


def fetch_weights(entry: ModelEntry, accept_unverified: bool = False) -> Path:
    """The file of an entry's weights, which are fetched where they are not there yet.

    Raises:
        ValueError: the zoo has none; says how to come by them.
        DownloadError: see :func:`mmface.zoo.download`.
    """
    ways = {
        'by hand': f"its authors' page cannot be fetched by a program: open {entry.page}, and pass the file "
                   f"(get_model('{entry.name}', pretrained='FILE'))",
        'rebuild': f'its weights are not published. Train it: {entry.rebuild}',
        'config only': f'nobody has trained it. Train it: mmface train {entry.name}',
    }
    if entry.status in ways:
        raise ValueError(f'{entry.name}: {ways[entry.status]}')
    if entry.shipped:
        path = PACKAGE / str(entry.weights)
        if entry.sha256 and sha256_of(path) != entry.sha256:
            raise ValueError(f'{path}: not the file that the zoo means (SHA-256): damaged or altered. Install mmface again')
        return path
    return download(
        str(entry.weights), entry.sha256, entry.size, folder=cache_folder() / 'zoo' / entry.name, mirrors=entry.mirrors,
        accept_unverified=accept_unverified, way_out='Without a network, fetch it on another machine and pass the file as pretrained')
