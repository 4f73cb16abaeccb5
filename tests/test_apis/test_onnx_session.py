"""What runs a file, and what is said about it."""
import warnings

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from mmface.apis import OnnxEmbedder, onnx_session
from mmface.apis.onnx_runner import BoundRunner, session_runner
from mmface.apis.onnx_session import CPU, CUDA, PROVIDERS, TENSORRT, open_session
from mmface.utils import import_onnxruntime


class Session:

    def __init__(self, providers):
        self.providers = providers

    def get_providers(self):
        return self.providers


class Runtime:
    """An ONNX Runtime with a GPU package on a machine without one: the providers that start are those of ``starts``."""
    __file__ = __file__

    def __init__(self, available, starts):
        self.available, self.starts, self.asked = available, starts, []
        self.SessionOptions = import_onnxruntime().SessionOptions
        self.severities = []

    def get_available_providers(self):
        return self.available

    def set_default_logger_severity(self, severity):
        self.severities.append(severity)

    def InferenceSession(self, path, options, providers, enable_fallback):
        assert enable_fallback == 0
        self.asked.append([name for name, _ in providers])
        self.options = dict(providers)
        if self.starts is None:
            raise RuntimeError('Please install the libraries')
        return Session([name for name, _ in providers if name in self.starts])


@pytest.fixture
def runtime(monkeypatch):

    def use(available, starts):
        runtime = Runtime(available, starts)
        monkeypatch.setattr(onnx_session, 'import_onnxruntime', lambda: runtime)
        return runtime

    return use


def test_cuda_is_taken_where_it_starts(runtime, colour_model):
    fake = runtime([TENSORRT, CUDA, CPU], [CUDA, CPU])
    session, why = open_session(colour_model())
    assert (session.get_providers(), why) == ([CUDA, CPU], f'{CUDA}, since it is there')
    assert fake.asked == [[CUDA, CPU]]  # not TensorRT, which takes minutes


def test_where_cuda_does_not_start_the_cpu_runs_and_the_missing_library_is_said_once(runtime, colour_model):
    fake = runtime([CUDA, CPU], [CPU])
    with pytest.warns(RuntimeWarning, match=r'CPUExecutionProvider, since CUDA does not start: .*libonnxruntime_providers_') as told:
        session, why = open_session(colour_model())
    assert len(told) == 1
    assert session.get_providers() == [CPU]
    assert 'cannot open shared object' in why
    assert fake.severities == [4, 2]  # ONNX Runtime's own lines about it are kept back, and only meanwhile


def test_without_cuda_in_the_package_the_way_to_it_is_told_without_a_warning(runtime, colour_model):
    runtime([CPU], [CPU])
    with warnings.catch_warnings():
        warnings.simplefilter('error')
        assert 'install onnxruntime-gpu' in open_session(colour_model())[1]


@pytest.mark.parametrize('starts', [[CPU], None])
def test_what_was_asked_for_by_name_and_does_not_start_is_an_error(runtime, colour_model, starts):
    runtime([TENSORRT, CUDA, CPU], starts)
    for name in ('cuda', 'tensorrt'):
        with pytest.raises(ValueError, match=rf'(?i)colour\.onnx: {name}ExecutionProvider .*does not start \(.*cannot open shared object'):
            open_session(colour_model(), PROVIDERS[name])


def test_tensorrt_keeps_its_engines_where_it_is_told_and_builds_one_for_all_batches(runtime, colour_model, tmp_path):
    fake = runtime([TENSORRT, CUDA, CPU], [TENSORRT, CUDA, CPU])
    assert open_session(colour_model(), PROVIDERS['tensorrt'], engine_cache=tmp_path / 'engines')[1] == f'{TENSORRT}, as asked'
    assert fake.asked == [[TENSORRT, CUDA, CPU]]
    options = fake.options[TENSORRT]
    assert (options['trt_engine_cache_enable'], options['trt_engine_cache_path']) == ('True', str(tmp_path / 'engines'))
    assert options['trt_profile_min_shapes'] == 'images:1x4x6x3'
    assert options['trt_profile_max_shapes'] == 'images:64x4x6x3'
    assert fake.options[CUDA] == {}
    assert 'trt_fp16_enable' not in options


def test_threads_reach_the_session(colour_model):
    session, _ = open_session(colour_model(), threads=3)
    assert session.get_session_options().intra_op_num_threads == 3


def test_bound_buffers_give_what_plain_arrays_give(colour_model):
    session, _ = open_session(colour_model(), [CPU])
    bound, plain = BoundRunner(session, 'images', ['embedding'], pin=False), session_runner(session, 'images', ['embedding'])
    rng = np.random.default_rng(0)
    results = []
    for count in (3, 1, 7):
        batch = rng.integers(0, 256, (count, 4, 6, 3), np.uint8)
        results.append((bound(batch)[0], plain(batch)[0]))
    for found, expected in results:  # later batches do not write into what was given away
        np.testing.assert_array_equal(found, expected)


def with_norm(path):
    """Gives the mean colour at length 1 and, as a second output, its length."""
    nodes = [
        helper.make_node('Cast', ['images'], ['floats'], to=TensorProto.FLOAT),
        helper.make_node('ReduceMean', ['floats'], ['mean'], axes=[1, 2], keepdims=0),
        helper.make_node('ReduceL2', ['mean'], ['long'], axes=[1], keepdims=1),
        helper.make_node('Div', ['mean', 'long'], ['embedding']),
        helper.make_node('ReduceL2', ['mean'], ['norm'], axes=[1], keepdims=0),
    ]
    graph = helper.make_graph(nodes, 'g', [helper.make_tensor_value_info('images', TensorProto.UINT8, [2, 4, 6, 3])],
                              [helper.make_tensor_value_info('embedding', TensorProto.FLOAT, [2, 3]),
                               helper.make_tensor_value_info('norm', TensorProto.FLOAT, [2])])  # yapf: disable
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=8)
    takes = '"size": [4, 6], "color": "RGB", "mean": [0, 0, 0], "std": [1, 1, 1]'
    helper.set_model_props(model, dict(mmface=f'{{"schema": 1, "input": {{{takes}}}, "preprocessing_in_graph": true, '
                                       '"output": {"embedding": "embedding", "norm": "norm"}}'))  # yapf: disable
    onnx.save(model, path)
    return path


def test_the_norm_of_the_file_is_given_and_of_a_file_without_one_the_embeddings_own(colour_model, tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (5, 4, 6, 3), np.uint8)
    embeddings, norms = OnnxEmbedder(with_norm(tmp_path / 'norm.onnx')).embed_with_norm(images)
    means = images.mean((1, 2))
    np.testing.assert_allclose(norms, np.linalg.norm(means, axis=1), rtol=1e-5)
    np.testing.assert_allclose(embeddings * norms[:, None], means, rtol=1e-5)
    embeddings, norms = OnnxEmbedder(colour_model()).embed_with_norm(images)
    np.testing.assert_allclose(norms, np.linalg.norm(means - 128, axis=1), rtol=1e-5)
    assert norms.dtype == np.float32
