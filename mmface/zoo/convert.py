"""Other projects' checkpoints to mmface's networks."""
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from mmface.utils.data_format_error import DataFormatError

from .download import sha256_of
from .foreign_file import input_of, manifest_beside, save_with_manifest
from .layouts import LAYOUTS, Layout
from .layouts.layout import model_config
from .manifest import UNKNOWN, Manifest
from .model_pair import ModelPair
from .recognise import recognise
from .safe_load import find_weights, inert_names, safe_load
from .training_sets import check_classes

LICENCE = ('code', 'weights', 'data')  #: to what a licence applies


@dataclass(frozen=True)
class Converted:
    """A foreign checkpoint as mmface has it.

    Attributes:
        weights: state dict of the recognizer; with ``head.weight`` [C, D] where that was asked for.
        manifest: what goes beside it.
        notes: what deserves a look, a sentence each.
    """
    weights: dict[str, Tensor]
    manifest: Manifest
    notes: list[str] = field(default_factory=list)

    @property
    def family(self) -> str:
        """Name of the layout that was recognised."""
        return self.manifest.family

    @property
    def model(self) -> dict[str, Any]:
        """Config of the recognizer, without a head."""
        return self.manifest.model

    def write(self, path: str | Path) -> Path:
        """Writes ``NAME.safetensors`` and ``NAME.json``, each whole or not at all; returns the former.

        With ``NAME.pth`` it is a checkpoint that a training takes with ``load_from``, and ``NAME.pth.json``.
        """
        path = Path(path)
        if path.suffix == '.pth':
            return save_with_manifest(dict(state_dict=self.weights, meta={}), self.manifest, path)
        return ModelPair(self.weights, self.manifest).write(path)


def convert(path: str | Path,
            family: str | None = None,
            prefix: str | None = None,
            training_set: str | None = None,
            licence: Mapping[str, str] | None = None,
            keep_head: bool = False,
            **preprocessor: Any) -> Converted:
    """Reads a checkpoint of InsightFace, AdaFace, CVLface, MagFace, TFace, FaceX-Zoo, face.evoLVe or any of their relatives.

    Args:
        path: the file; see :func:`~mmface.zoo.safe_load`.
        family: name of its layout; default: told by keys and shapes.
        prefix: of the network that is meant, where the file has several.
        training_set: what it was trained on. Default: as a manifest beside the file says, else unknown.
        licence: of ``code``, ``weights`` and ``data``; what is not said is as for ``training_set``.
        keep_head: keeps the prototypes, which are templates of the people in the training set.
        preprocessor: ``color``, ``mean``, ``std`` and ``template``, where the network does not eat what its project feeds it.

    Raises:
        FileNotFoundError: there is no such file.
        DataFormatError: not a checkpoint, or of no layout that is known: then with the difference to the nearest, key by key.
        ValueError: a licence of something else.
    """
    path = Path(path)
    if unknown := set(licence or {}) - set(LICENCE):
        raise ValueError(f'a licence of {sorted(unknown)}; it is of {", ".join(LICENCE)}')
    loaded = safe_load(path)
    state = find_weights(loaded, path)
    try:
        found = recognise(state, family, prefix)
    except ValueError as error:
        raise DataFormatError(path, value=str(error)) from None
    weights = found.layout.read(found.state, found.backbone, found.neck)
    beside = {key: value for key, value in state.items() if not key.startswith(found.prefix)}
    head, left_out = _find_head(beside, found.neck['out_channels'])
    left_out += [key for key in found.state if key.endswith(found.layout.optional)]
    known = _known_manifest(path)
    model = model_config(found.backbone, found.neck, **found.layout.preprocessor(found.size) | preprocessor)
    record = Manifest(
        family=found.layout.name,
        model=model,
        training_set=training_set or known.training_set,
        num_classes=known.num_classes if head is None else len(head),
        licence={kind: (licence or {}).get(kind, known.licence[kind]) for kind in LICENCE},
        source=dict(file=path.name, sha256=sha256_of(path), project=found.layout.project, prefix=found.prefix),
        input=input_of(model))  # yapf: disable
    if head is not None and keep_head:
        weights['head.weight'] = head
    return Converted(weights, record, _notes(record, found.layout, loaded, head is not None and not keep_head, left_out))


def _known_manifest(path: Path) -> Manifest:
    """The manifest that an earlier conversion left beside a file; an empty one where there is none of these very weights."""
    beside = manifest_beside(path)
    if beside.is_file():
        try:
            found = Manifest.read(beside)
        except ValueError:
            found = None  # somebody else's JSON
        if found is not None and found.weights_sha256 == sha256_of(path):
            return found
    return Manifest(family=UNKNOWN, model={})


def _find_head(others: Mapping[str, Tensor], dims: int) -> tuple[Tensor | None, list[str]]:
    """The prototypes [C, D] among the tensors beside the network, and the names of the other ones. Most projects store [D, C]."""
    heads = [key for key, tensor in others.items() if tensor.ndim == 2 and dims in tensor.shape]
    if len(heads) != 1:
        return None, list(others)
    head = others[heads[0]]
    return (head.T.contiguous() if head.shape[0] == dims else head), [key for key in others if key != heads[0]]


def _notes(record: Manifest, layout: Layout, loaded: Mapping[str, Any], head_dropped: bool, left_out: list[str]) -> list[str]:
    notes = []
    if record.num_classes is not None:
        notes += [note for note in (check_classes(record.training_set, record.num_classes), ) if note]
    if head_dropped:
        notes.append(f'left out: the head of {record.num_classes} classes, whose prototypes are templates of people (--keep-head keeps it)')
    if 'state_dict_softmax_fc' in loaded:
        notes.append("left out: one rank's shard of the head; tools/model_converters/head.py joins the shards of all ranks")
    if left_out:
        notes.append(f'left out, which only training reads: {", ".join(left_out)}')
    if names := sorted(inert_names(loaded)):
        notes.append(f'named by the file and not executed: {", ".join(names)}')
    if not layout.wrappers:
        siblings = [other.name for other in LAYOUTS.values() if other.telltale == layout.telltale and other is not layout]
        if siblings:
            notes.append(f'the keys are also those of {" and ".join(siblings)}, which feed their networks otherwise; without a wrapper '
                         f'around them they are taken for {layout.name}. If that is wrong, say so with --family')
    return notes
