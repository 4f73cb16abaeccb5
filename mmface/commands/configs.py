"""Configs by the name that they have in the package."""
import difflib
from pathlib import Path

from mmface.utils.config_folder import config_folder


def config_names() -> list[str]:
    """Every config that is not only a base of others, as ``arcface/arcface_iresnet50_8xb128_ms1mv3.py``."""
    folder = config_folder()
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob('*.py') if '_base_' not in file.relative_to(folder).parts)


def find_config(name: str) -> str:
    """The path of a config: of the file ``name``, else of the package's config of that name.

    Args:
        name: a path; or, of a config of the package, its path below ``configs`` or its name alone, with or without ``.py``.

    Raises:
        FileNotFoundError: for none, with names that are nearest to it.
    """
    if Path(name).is_file():
        return name
    wanted = name.removeprefix('configs/').removesuffix('.py')
    names = config_names()
    for candidate in names:
        if wanted in (candidate.removesuffix('.py'), Path(candidate).stem):
            return str(config_folder() / candidate)
    stems = {Path(candidate).stem: candidate for candidate in names}
    near = difflib.get_close_matches(Path(wanted).stem, stems, n=3)
    hint = f': did you mean {" or ".join(near)}?' if near else f'; the package has, among {len(names)}, {", ".join(list(stems)[:3])}'
    raise FileNotFoundError(f'{name}: neither a file nor a config of the package{hint}')
