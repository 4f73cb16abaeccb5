"""The identity of a network in an ONNX file."""
import hashlib
from typing import Any

import onnx

_REMARKS = ('doc_string', 'metadata_props', 'producer_name', 'producer_version')


def model_id(model: onnx.ModelProto) -> str:
    """SHA-256 over the model serialised without its remarks (:func:`strip_remarks`), 64 hexadecimal digits.

    The same weights and operators give the same id whatever is written into the metadata, thresholds included; any change of a weight
    gives another. Weights in external data files must have been loaded.
    """
    bare = onnx.ModelProto()
    bare.CopyFrom(model)
    strip_remarks(bare)
    return hashlib.sha256(bare.SerializeToString(deterministic=True)).hexdigest()


def strip_remarks(message: Any) -> None:
    """Empties, in place and at every depth, what does not compute: metadata, producer and doc strings.

    torch's exporter leaves there the source lines, with the paths on the exporting machine, that each operator came from.
    """
    for name in _REMARKS:
        if name in message.DESCRIPTOR.fields_by_name:
            message.ClearField(name)
    for field, value in message.ListFields():
        if field.message_type is not None:
            for child in [value] if hasattr(value, 'ListFields') else value:
                strip_remarks(child)
