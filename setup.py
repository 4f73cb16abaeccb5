"""Packaging of mmface: ranges in requirements/, configs and tools in ``mmface/.mim`` as OpenMMLab's ``mim`` expects them."""
import os
import shutil
from pathlib import Path

from setuptools import find_packages, setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
MIM = ('configs', 'model-index.yml', 'tools')


def requirements(*names: str) -> list[str]:
    """The requirements in ``requirements/NAME.txt`` of each name, comments left out."""
    lines = [line.partition('#')[0].strip() for name in names for line in (ROOT / f'requirements/{name}.txt').read_text().splitlines()]
    return sorted({line for line in lines if line})


def version() -> str:
    """``__version__``, read without importing the package."""
    scope: dict = {}
    exec((ROOT / 'mmface/version.py').read_text(), scope)
    return scope['__version__']


class BuildWithMim(build_py):
    """Adds ``mmface/.mim``: copies in what is built, links in the checkout for an editable install."""

    def run(self) -> None:
        super().run()
        mim = (ROOT if self.editable_mode else Path(self.build_lib).resolve()) / 'mmface/.mim'
        mim.mkdir(parents=True, exist_ok=True)
        for name in MIM:
            target = mim / name
            if target.is_symlink() or target.is_file():
                target.unlink()
            if self.editable_mode:
                target.symlink_to(os.path.relpath(ROOT / name, mim))
            elif (ROOT / name).is_file():
                shutil.copyfile(ROOT / name, target)
            else:
                shutil.copytree(ROOT / name, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns('__pycache__'))


if __name__ == '__main__':
    setup(
        name='mmface',
        version=version(),
        description='Face recognition for OpenMMLab: train, compare, export and verify',
        long_description=(ROOT / 'README.md').read_text(encoding='utf-8'),
        long_description_content_type='text/markdown',
        author='The mmface contributors',
        license_expression='Apache-2.0',
        license_files=['LICENSE'],
        keywords='computer vision, face recognition, metric learning, openmmlab',
        classifiers=[
            'Development Status :: 3 - Alpha',
            'Intended Audience :: Developers',
            'Intended Audience :: Science/Research',
            'Operating System :: OS Independent',
            'Programming Language :: Python :: 3',
            'Topic :: Scientific/Engineering :: Artificial Intelligence',
        ],
        packages=find_packages(include=['mmface', 'mmface.*']),
        include_package_data=True,
        cmdclass={'build_py': BuildWithMim},
        entry_points={'console_scripts': ['mmface = mmface.commands.main:main']},
        python_requires='>=3.10,<3.14',
        install_requires=requirements('runtime'),
        extras_require={
            'lite': requirements('lite'),
            'cpu': requirements('cpu'),
            'gpu': requirements('gpu'),
            'mim': requirements('mminstall'),
            'faiss': requirements('faiss'),
            'lmdb': requirements('lmdb'),
            'pyarrow': requirements('pyarrow'),
            'webdataset': requirements('webdataset'),
            'web': requirements('web'),
            'quality': requirements('quality'),
            'tests': requirements('tests', 'faiss', 'lmdb', 'pyarrow', 'webdataset', 'web'),
            'benchmark': requirements('benchmark'),
            'dev': requirements('dev'),
            'docs': requirements('docs'),
            'all': requirements('lite', 'cpu', 'faiss', 'lmdb', 'pyarrow', 'webdataset', 'web'),
        },
    )
