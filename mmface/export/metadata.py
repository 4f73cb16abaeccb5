"""The record in an ONNX file that says what the file needs: JSON under one key of its metadata.

Schema 1::

    {schema: 1,
     input: {layout: 'NHWC', dtype: 'uint8', size: [height, width], color, mean, std, template},
     preprocessing_in_graph: true,
     output: {embedding, dim, normalized, norm, flip},
     model_id, config, config_sha256, checkpoint_sha256, training_set,
     licence: {code, weights, data}, precision, gate: {...}, thresholds: [...]}

``color`` is the channel order that the caller supplies, and ``mean`` and ``std`` (in 0..255) are in that order: with
``preprocessing_in_graph`` the file applies them itself, and reorders the channels itself where the network wants them otherwise.
``embedding`` and ``norm`` name outputs; ``thresholds`` are those of a ``threshold.json``: accept where similarity >= t.
"""
import json
from pathlib import Path

import onnx

METADATA_KEY = 'mmface'
SCHEMA = 1


def read_metadata(model: onnx.ModelProto, where: str | Path) -> dict | None:
    """The record of a model, or None where it has none.

    Args:
        model: the model.
        where: the file's name, for messages.

    Raises:
        ValueError: as :func:`parse_metadata`.
    """
    texts = [entry.value for entry in model.metadata_props if entry.key == METADATA_KEY]
    return parse_metadata(texts[0], where) if texts else None


def parse_metadata(text: str, where: str | Path) -> dict:
    """The record in the text that stands under the key.

    Raises:
        ValueError: not JSON, or a schema that this version does not know.
    """
    try:
        record = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f'{where}: the metadata {METADATA_KEY!r} are not JSON ({error}): the file is damaged or not ours') from error
    schema = record.get('schema') if isinstance(record, dict) else None
    if schema != SCHEMA:
        raise ValueError(f'{where}: the metadata {METADATA_KEY!r} have the schema {schema!r}, this version reads {SCHEMA}: update mmface')
    return record


def write_metadata(model: onnx.ModelProto, record: dict) -> None:
    """Puts the record into the model, in place of an earlier one; other metadata stay."""
    others = {entry.key: entry.value for entry in model.metadata_props if entry.key != METADATA_KEY}
    onnx.helper.set_model_props(model, {**others, METADATA_KEY: json.dumps(record, sort_keys=True, allow_nan=False)})
