"""The launchers: two torchrun agents on this machine, as on two nodes, train a sharded head, and end together where one of them cannot."""
import json
import os
import socket
import subprocess
import sys

import pytest
from processes import ROOT, environment, error_log, read_log

CONFIG = str(ROOT / 'configs/demo/arcface_mobilefacenet_procedural.py')
OPTIONS = ['model.head.sharded=True', 'model.head.num_classes=20', 'train_dataloader.batch_size=8', 'train_cfg.max_epochs=1',
           'default_hooks.logger.interval=1', 'default_hooks.checkpoint.save_best=None', 'env_cfg.dist_cfg.timeout=60']


@pytest.fixture(scope='module')
def data(tmp_path_factory):
    """Procedural faces: 4 pictures of each of 20 people."""
    folder = tmp_path_factory.mktemp('nodes') / 'data'
    sizes = ['--people', '20', '--pictures', '4', '--test-people', '20', '--test-pictures', '2', '--folds', '2', '--pairs', '8']
    subprocess.run([sys.executable, str(ROOT / 'tools/dataset_converters/procedural.py'), '--out', str(folder), *sizes], env=environment(),
                   check=True, timeout=100)
    return folder


def free_port():
    with socket.socket() as found:
        found.bind(('127.0.0.1', 0))
        return found.getsockname()[1]


def on_two_nodes(work_dir, data, options_of_node):
    """Exit codes and standard errors of tools/dist_train.sh, started on two nodes with one process each."""
    port = str(free_port())
    nodes, logs = [], []
    for node, options in enumerate(options_of_node):
        command = ['bash', str(ROOT / 'tools/dist_train.sh'), CONFIG, '1', '--work-dir', str(work_dir), '--no-validate', '--cfg-options',
                   *OPTIONS, f'train_dataloader.dataset.path={data / "train.rec"}', *options]
        variables = dict(NNODES='2', NODE_RANK=str(node), MASTER_ADDR='127.0.0.1', PORT=port, PYTHON=sys.executable)
        logs.append(error_log())
        nodes.append(subprocess.Popen(command, env=environment(**variables), cwd=data, stdout=subprocess.DEVNULL, stderr=logs[-1],
                                      start_new_session=True))
    try:
        for node in nodes:
            node.wait(timeout=150)
    finally:
        for node in nodes:
            if node.poll() is None:
                os.killpg(node.pid, 9)
    return [node.returncode for node in nodes], [read_log(log) for log in logs]


@pytest.mark.slow
def test_two_nodes_train_one_sharded_head(data, tmp_path):
    codes, errors = on_two_nodes(tmp_path, data, [[], []])
    assert codes == [0, 0], errors
    assert (tmp_path / 'epoch_1.pth').is_file()
    assert list((tmp_path / 'epoch_1.shards').iterdir())
    losses = [json.loads(line) for file in tmp_path.glob('*/vis_data/scalars.json') for line in file.read_text().splitlines()]
    assert [line['iter'] for line in losses if 'loss' in line] == [1, 2, 3, 4, 5]


@pytest.mark.slow
def test_nodes_that_disagree_on_the_number_of_classes_both_say_so_and_end(data, tmp_path):
    codes, errors = on_two_nodes(tmp_path, data, [[], ['model.head.num_classes=24']])
    assert 0 not in codes
    for error in errors:
        assert 'ranks 0 to 1 disagree: num_classes is [20, 24]' in error
