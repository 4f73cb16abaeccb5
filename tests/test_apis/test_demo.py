"""The demo, in a size that takes seconds: too little to learn anything, but every step runs."""
import importlib.util
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from mmengine.config import Config

from mmface.apis import OnnxEmbedder
from mmface.apis.demo import baselines, run_demo
from mmface.apis.demo_report import DemoReport
from mmface.datasets.procedural import SetSizes
from mmface.export.metadata import read_metadata

pytestmark = pytest.mark.slow  # the export alone takes seconds
ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / 'configs/demo/arcface_mobilefacenet_procedural.py'
SIZES = SetSizes(people=6, pictures=4, test_people=32, test_pictures=4, folds=2, pairs=240)
OPTIONS = {'train_cfg.max_epochs': 1, 'train_dataloader.batch_size': 8}


@pytest.fixture(scope='module')
def told() -> list[str]:
    return []


@pytest.fixture(scope='module')
def report(tmp_path_factory, told) -> DemoReport:
    return run_demo(CONFIG, tmp_path_factory.mktemp('demo'), threads=1, sizes=SIZES, cfg_options=OPTIONS, say=told.append)


@pytest.fixture(scope='module')
def tool():
    spec = importlib.util.spec_from_file_location('demo_tool', ROOT / 'tools/demo.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(accuracy: float) -> dict[str, float]:
    return dict(accuracy=accuracy, accuracy_se=.01, auc=.5, eer=.5)


def test_every_step_is_announced_and_timed(report, told):
    steps = ['generate', 'train', 'test', 'export', 'verify', 'draw']
    assert list(report.seconds) == steps
    assert [text for text in told if text.startswith('---')] == [f'--- {step}' for step in steps]


def test_network_and_onnx_file_agree_and_the_baselines_are_there(report):
    network, file = report.trained['trained network'], report.trained['its ONNX file']
    assert file['auc'] == pytest.approx(network['auc'], abs=1e-3)
    assert list(report.untrained) == ['untrained network', 'raw pixels', 'mean colour']
    for numbers in (report.trained | report.untrained).values():
        assert set(numbers) == {'accuracy', 'accuracy_se', 'auc', 'eer'}
        assert all(0 <= value <= 1 for value in numbers.values())


def test_the_model_file_eats_whole_crops_and_carries_the_threshold_of_the_test(report):
    record = read_metadata(onnx.load(report.model), report.model)
    assert [point['far_target'] for point in record['thresholds']] == [.01]
    assert record['model_id'] == report.facts['model_id']
    assert OnnxEmbedder(report.model).size == (112, 112)
    for found in report.verifications.values():
        assert found.threshold.value == record['thresholds'][0]['similarity']
        assert found.same == (found.similarity >= found.threshold.value)


def test_the_results_are_written(report):
    written = json.loads((report.out / 'results.json').read_text())
    assert written['trained'] == report.trained
    assert written['problems'] == report.problems
    assert written['facts']['seed'] == 0
    assert report.picture.read_bytes().startswith(b'\x89PNG')


def test_what_is_printed_holds_every_row_and_the_path_of_the_picture(report):
    text = str(report)
    for name, numbers in (report.trained | report.untrained).items():
        assert any(line.startswith(name) and f'{numbers["accuracy"]:.2%}' in line for line in text.splitlines())
    assert text.endswith(str(report.picture))


def test_the_rows_of_the_pixels_have_the_cosines_of_the_images():
    images = np.random.default_rng(0).integers(0, 256, (5, 8, 8, 3), np.uint8)
    flat = images.reshape(5, -1) / np.linalg.norm(images.reshape(5, -1), axis=1, keepdims=True)
    found = baselines(images)
    rows = found['raw pixels'] / np.linalg.norm(found['raw pixels'], axis=1, keepdims=True)
    assert rows @ rows.T == pytest.approx(flat @ flat.T, abs=1e-6)
    assert found['mean colour'][2] == pytest.approx([images[2, ..., channel].mean() for channel in range(3)])


def test_the_config_is_made_for_the_default_sizes():
    cfg = Config.fromfile(CONFIG)
    assert cfg.model.head.num_classes == SetSizes().people
    assert cfg.randomness.seed == 0


@pytest.mark.parametrize(('trained', 'untrained', 'problems'), [(.9, .7, 0), (.899, .7, 1), (.9, .701, 1), (.5, .9, 2)])
def test_too_little_learned_or_an_easy_task_is_a_problem_and_exit_code_1(tool, monkeypatch, tmp_path, trained, untrained, problems, capsys):
    made = DemoReport(tmp_path, dict(network=row(trained)), dict(pixels=row(untrained)))
    monkeypatch.setattr('mmface.apis.demo.run_demo', lambda *args, **kwargs: made)
    assert tool.main([]) == (1 if problems else 0)
    assert len(capsys.readouterr().err.splitlines()) == len(made.problems) == problems
