"""The identity of a network: what changes it, and what does not."""
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from mmface.export import METADATA_KEY, model_id, read_metadata, strip_remarks, write_metadata


@pytest.fixture
def network():
    weight = numpy_helper.from_array(np.arange(6, dtype=np.float32).reshape(3, 2), 'w')
    graph = helper.make_graph([helper.make_node('MatMul', ['x', 'w'], ['y'], name='product')], 'net',
                              [helper.make_tensor_value_info('x', TensorProto.FLOAT, ['batch', 3])],
                              [helper.make_tensor_value_info('y', TensorProto.FLOAT, ['batch', 2])], [weight])
    return helper.make_model(graph)


def test_remarks_at_any_depth_do_not_change_it(network):
    bare = model_id(network)
    network.producer_name, network.producer_version, network.doc_string = 'someone', '9', 'a network'
    network.graph.doc_string = network.graph.node[0].doc_string = network.graph.initializer[0].doc_string = 'File "/home/someone/net.py"'
    network.graph.node[0].metadata_props.add(key='stack_trace', value='/home/someone')
    write_metadata(network, dict(schema=1, thresholds=[dict(similarity=.3)]))
    assert model_id(network) == bare
    assert read_metadata(network, 'net.onnx')['thresholds'] == [dict(similarity=.3)]  # and computing it changed nothing
    strip_remarks(network)
    assert b'someone' not in network.SerializeToString()
    assert network.graph.node[0].name == 'product'


def test_one_bit_of_one_weight_changes_it(network):
    before = model_id(network)
    weight = np.arange(6, dtype=np.float32).reshape(3, 2)
    weight[2, 1] = np.nextafter(weight[2, 1], 6)
    network.graph.initializer[0].CopyFrom(numpy_helper.from_array(weight, 'w'))
    assert model_id(network) != before


def test_an_operator_changes_it(network):
    before = model_id(network)
    network.graph.node[0].op_type = 'Gemm'
    assert model_id(network) != before


def test_metadata_are_replaced_and_foreign_ones_kept(network):
    network.metadata_props.add(key='names', value='a, b')
    write_metadata(network, dict(schema=1, training_set='first'))
    write_metadata(network, dict(schema=1, training_set='second'))
    assert read_metadata(network, 'net.onnx') == dict(schema=1, training_set='second')
    assert sorted(entry.key for entry in network.metadata_props) == sorted(['names', METADATA_KEY])


def test_a_file_without_metadata_has_none(network):
    assert read_metadata(network, 'net.onnx') is None


@pytest.mark.parametrize('text, words', [('{', 'not JSON'), ('{"schema": 2}', 'schema 2, this version reads 1'), ('[1]', 'schema None')])
def test_metadata_of_another_kind_are_refused_by_name(network, text, words):
    network.metadata_props.add(key=METADATA_KEY, value=text)
    with pytest.raises(ValueError, match=f'net.onnx.*{words}'):
        read_metadata(network, 'net.onnx')
