"""Configs by name."""
from pathlib import Path

import pytest
from mmengine.config import Config

from mmface.commands.configs import config_names, find_config
from mmface.utils.config_folder import config_folder

NAME = 'arcface/arcface_mobilefacenet_1xb32_own-photos'


@pytest.mark.parametrize('name', [NAME, f'{NAME}.py', f'configs/{NAME}.py', Path(NAME).name, f'{Path(NAME).name}.py'])
def test_a_config_of_the_package_is_found_by_each_of_its_names(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = find_config(name)
    assert Path(found) == config_folder() / f'{NAME}.py'
    assert Config.fromfile(found).model.type == 'FaceRecognizer'


def test_a_file_comes_before_a_config_of_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    own = Path(f'{Path(NAME).name}.py')
    own.write_text('model = dict()\n')
    assert find_config(own.name) == own.name


def test_names_are_unique_so_that_a_name_alone_says_which():
    stems = [Path(name).stem for name in config_names()]
    assert len(stems) > 5
    assert len(set(stems)) == len(stems)


def test_an_unknown_name_is_answered_with_the_nearest():
    with pytest.raises(FileNotFoundError, match=r'neither.*did you mean .*arcface_mobilefacenet_1xb32_own-photos'):
        find_config('arcface_mobilefacenet_own')


def test_bases_of_configs_are_not_offered():
    assert not [name for name in config_names() if '_base_' in name]
    with pytest.raises(FileNotFoundError):
        find_config('default_runtime')
