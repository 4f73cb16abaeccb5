"""``import mmface``: cheap, and silent."""
import warnings

import pytest


def test_importing_mmface_loads_neither_its_parts_nor_mmpretrain(python):
    done = python('import sys, mmface\n'
                  'print(*sorted(name for name in sys.modules if name.startswith("mmface")))\n'
                  'print({"mmcv", "mmengine.runner", "mmpretrain", "onnx", "onnxruntime", "scipy", "sklearn", "torch"} & set(sys.modules))')
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        'mmface mmface.utils mmface.utils.after_import mmface.utils.compat mmface.utils.dependency mmface.version', 'set()'
    ]


def test_what_the_package_offers_is_loaded_when_it_is_asked_for(python):
    done = python('import sys, mmface\n'
                  'print("mmface.apis" in sys.modules, hasattr(mmface, "nonsense"))\n'
                  'from mmface import get_model, list_models\n'
                  'print(get_model is sys.modules["mmface.apis"].get_model, list_models("no such model"))')
    assert done.stdout.splitlines() == ['False False', 'True []'], done.stderr


def test_no_module_of_mmface_warns_when_imported(python):
    done = python('import importlib, pkgutil, warnings, mmface\n'
                  'warnings.filterwarnings("error", module=r"mmface(\\.|$)")\n'
                  'names = [m.name for m in pkgutil.walk_packages(mmface.__path__, "mmface.")]\n'
                  'for name in names: importlib.import_module(name)\n'
                  'print(len(names))')
    assert done.returncode == 0, done.stderr
    assert done.stderr == ''
    assert int(done.stdout) > 20


def test_every_folder_with_code_is_a_package(root):
    folders = {file.parent for file in (root / 'mmface').rglob('*.py') if '.mim' not in file.parts}
    assert [str(folder) for folder in sorted(folders) if not (folder / '__init__.py').is_file()] == []


@pytest.mark.parametrize('module', ['mmface', 'mmface.models.heads'])
def test_a_warning_from_mmface_is_an_error_in_these_tests(module):
    with pytest.raises(UserWarning, match='of our making'):
        warnings.warn_explicit('of our making', UserWarning, 'file.py', 1, module=module)


def test_a_warning_from_elsewhere_is_not(recwarn):
    warnings.warn_explicit('of theirs', UserWarning, 'file.py', 1, module='mmfacet.models')
    assert [str(warning.message) for warning in recwarn] == ['of theirs']
