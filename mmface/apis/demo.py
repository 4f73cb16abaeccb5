"""The main job from end to end on procedural faces: write them, train, test, export, compare two pictures."""
import json
import platform
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from mmengine.logging import print_log

from mmface.datasets import EvalDataset
from mmface.datasets.procedural import SetSizes, write_sets
from mmface.evaluation import TenFoldVerification
from mmface.export import Licence
from mmface.export.metadata import write_metadata
from mmface.registry import MODELS
from mmface.version import __version__
from mmface.visualization import pairs_to_show, save_figure, verification_picture

from .demo_report import DemoReport
from .embed_dataset import embed_dataset
from .export_model import export_model
from .face_cropper import FaceCropper
from .onnx_backend import OnnxEmbedder
from .run_test import run_test
from .threshold import choose_threshold
from .train import load_config, train
from .verify import compare_faces

FAR = 1e-2  # the false accept rate whose threshold goes into the model file
NUMBERS = ('accuracy', 'accuracy_se', 'auc', 'eer')


def run_demo(config: str | Path,
             out: str | Path,
             *,
             seed: int = 0,
             threads: int = 2,
             sizes: SetSizes | None = None,
             cfg_options: Mapping[str, Any] | None = None,
             say: Callable[[str], object] = print_log) -> DemoReport:
    """Runs all steps. The same arguments give the same numbers on one machine, however many cores it has.

    Args:
        config: what to train, such as ``configs/demo/...``; the places of its data, the number of classes and the seed are filled in.
        out: a folder for ``data/``, ``train/``, ``procedural.onnx``, ``demo.png`` and ``results.json``.
        seed: of the data and of the training.
        threads: of torch and ONNX Runtime; other numbers of threads add in another order, and end in other weights.
        sizes: of the data.
        cfg_options: further changes to the config, with dots in the keys of nested ones.
        say: called with the name of each step before it begins, and with what it has to tell.

    Raises:
        ParityError: the ONNX file differs from the network.
        ValueError, OSError, RuntimeError, ImportError: as the functions used.
    """
    demo = Demo(Path(config), Path(out), seed, threads, sizes or SetSizes(), cfg_options or {}, say)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        for step in (demo.generate, demo.train, demo.test, demo.export, demo.verify, demo.draw):
            demo.say(f'--- {step.__name__}')
            start = time.perf_counter()
            step()
            demo.report.seconds[step.__name__] = time.perf_counter() - start
    finally:
        torch.set_num_threads(before)
    (demo.report.out / 'results.json').write_text(json.dumps(demo.report.to_dict(), indent=2, allow_nan=False) + '\n')
    return demo.report


class Demo:
    """The steps, in the order of their definition; see :func:`run_demo` for the arguments."""

    def __init__(self, config: Path, out: Path, seed: int, threads: int, sizes: SetSizes, cfg_options: Mapping[str, Any],
                 say: Callable[[str], object]) -> None:
        self.seed, self.threads, self.sizes, self.say = seed, threads, sizes, say
        self.protocol = TenFoldVerification(fars=[FAR])
        self.report = DemoReport(out, facts=dict(
            seed=seed, threads=threads, mmface=__version__, torch=torch.__version__, numpy=np.__version__, python=platform.python_version(),
            sizes=vars(sizes)))
        self.cfg = load_config(config, out / 'train', {
            'train_dataloader.dataset.path': str(out / 'data/train.rec'),
            'val_dataloader.dataset.path': str(out / 'data/test'),
            'test_dataloader.dataset.path': str(out / 'data/test'),
            'model.head.num_classes': sizes.people,
            'randomness.seed': seed,
            **cfg_options
        }, 'none')

    def generate(self) -> None:
        """Writes a training set, and a pair set of other people."""
        write_sets(self.report.out / 'data', self.seed, self.sizes)
        self.dataset = EvalDataset(**{key: value for key, value in self.cfg.test_dataloader.dataset.items() if key != 'type'})
        self.pair_set = self.dataset.metainfo['pair_set']
        self.images = np.stack([self.dataset[at]['inputs'].permute(1, 2, 0).numpy() for at in range(len(self.dataset))])

    def train(self) -> None:
        """Trains what the config describes."""
        runner = train(self.cfg)
        self.checkpoint = Path(self.cfg.work_dir) / f'epoch_{runner.epoch}.pth'

    def test(self) -> None:
        """Tests the network trained and as drawn, and what takes no network."""
        drawn = Path(self.cfg.work_dir) / 'untrained.pth'
        torch.manual_seed(self.seed)
        torch.save(MODELS.build(self.cfg.model).state_dict(), drawn)
        self.report.trained['trained network'] = self._test(self.checkpoint)
        self.report.untrained['untrained network'] = self._test(drawn)
        exact = TenFoldVerification(rule='exact')  # the literature's steps suit embeddings; these are to have every threshold
        for name, rows in baselines(self.images).items():
            result = exact(self.pair_set, rows)
            self.report.untrained[name] = {key: result[key] for key in NUMBERS}

    def export(self) -> None:
        """Writes the network as ONNX, tests that file, and puts the threshold for a false accept rate of :data:`FAR` into it."""
        path = self.report.model
        report = export_model(
            Path(self.cfg.work_dir) / Path(self.cfg.filename).name,  # as MMEngine wrote it out, with all changes
            self.checkpoint,
            path,
            photos=self.pair_set.paths[:7],
            training_set=f'{self.sizes.people} procedural people, seed {self.seed}',
            licence=Licence(code='Apache-2.0', weights='Apache-2.0', data='Apache-2.0'))
        self.report.facts['model_id'] = report.metadata['model_id']
        embeddings, _ = embed_dataset(OnnxEmbedder(path, threads=self.threads), self.dataset)
        self.similarity = self.protocol.similarity(self.pair_set, embeddings)
        self.result = self.protocol(self.pair_set, embeddings)
        self.report.trained['its ONNX file'] = {key: self.result[key] for key in NUMBERS}
        model = onnx.load(path)
        points = [point for point in self.result['tar_at_far'] if point['resolvable']]
        write_metadata(model, report.metadata | dict(thresholds=points))
        onnx.save(model, path)

    def verify(self) -> None:
        """Compares the first pair of each kind, as ``tools/verify.py --aligned`` does it."""
        embedder = OnnxEmbedder(self.report.model, threads=self.threads)
        cropper = FaceCropper(embedder.size, embedder.metadata['input']['template'], None)
        threshold = choose_threshold(embedder.metadata)
        for kind, same in (('genuine', True), ('impostor', False)):
            pair = self.pair_set.pairs[np.flatnonzero(self.pair_set.same == same)[0]]
            first, second = (cropper(self.pair_set.paths[at]) for at in pair)
            self.report.verifications[kind] = compare_faces(embedder, first, second, threshold)
            self.say(str(self.report.verifications[kind]))

    def draw(self) -> None:
        """Draws ROC, similarities and a strip of pairs."""
        shown = pairs_to_show(self.similarity, self.pair_set.same)
        first, second = self.images[self.pair_set.pairs[shown]].swapaxes(0, 1)
        accuracy, threshold = self.result['accuracy'], self.result['threshold']
        title = f'Procedural faces: accuracy {accuracy:.2%} on people who were not in the training set'
        figure = verification_picture(self.similarity, self.pair_set.same, threshold, first, second, shown.tolist(), title, FAR)
        save_figure(figure, self.report.picture)

    def _test(self, checkpoint: Path) -> dict[str, float]:
        numbers = run_test(self.cfg, checkpoint, cfg_options=dict(log_level='WARNING'))
        return {key: numbers[f'{self.pair_set.name}/{key}'] for key in NUMBERS}


def baselines(images: np.ndarray) -> dict[str, np.ndarray]:
    """What a comparison that learned nothing sees of uint8 ``[M, H, W, 3]``: rows ``[M, D]``, to be compared by their cosine."""
    pixels = images.reshape(len(images), -1).astype(np.float32)
    products = (pixels @ pixels.T).astype(np.float64)
    return {
        'raw pixels': np.linalg.cholesky(products),  # rows with the same products, M numbers long instead of H * W * 3
        'mean colour': images.mean((1, 2)),
    }
