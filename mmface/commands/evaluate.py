"""How well do networks verify and identify faces? Runs models over evaluation sets and prints every number with every switch behind it.

    evaluate model.onnx --set lfw.bin --set cfp_fp.bin --out result.json
    evaluate old.onnx new.onnx --set LFW/ --bootstrap 1000 --report report.html
    evaluate embeddings.npz --set IJBC/ name=ijbc

A model is an .onnx file, of ours or any other; a converted pair (.safetensors with its .json); a name of the zoo; or a file of embeddings
(.npy, .npz, .safetensors). Embeddings of a network are kept and found again by the content of the network and of the images.
"""
import argparse
from pathlib import Path

from mmface.functional.flip_rules import FLIP_RULES

from .arguments import add_accept_unverified, add_input_arguments
from .completers import complete_network

PRESETS = ('adaface', 'cvlface', 'insightface', 'magface')  # the keys of mmface.evaluation.POOLING_PRESETS, which takes seconds to import


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line."""
    parser.epilog = 'Exit codes: 0 evaluated; 2 bad usage, or a file that cannot be used.'
    models = parser.add_argument('models', nargs='+', metavar='model', help='.onnx files, converted pairs, names of the zoo, or files '
                                 'of embeddings; further ones are compared with the first')
    models.completer = complete_network  # type: ignore[attr-defined]
    sets = parser.add_argument_group('sets')
    sets.add_argument('--set', nargs='+', action='append', default=[], dest='sets', metavar=('PATH', 'KEY=VALUE'),
                      help='a set in any known format, and what its reader takes: name=, format=, images=, ... (may be repeated)')
    sets.add_argument('--pairs', help="one set of pairs: its list, as LFW's pairs.txt (default: the one in --images)")
    sets.add_argument('--images', help='its folder of aligned crops (default: that of the list)')
    sets.add_argument('--format', default='auto', help='its format (default: %(default)s)')
    sets.add_argument('--name', help='what to call it (default: after its format)')
    sets.add_argument('--groups', help='image or person, and group, a line: error rates by group')
    protocol = parser.add_argument_group('protocol')
    protocol.add_argument('--rule', choices=['grid', 'exact'],
                          help='thresholds to choose from: the 400 of the literature, or all (default: grid)')
    protocol.add_argument('--flip', choices=sorted(FLIP_RULES), help='use the mirror image too, joined in this way (default: do not)')
    protocol.add_argument('--far', type=float, nargs='+', dest='fars', help='for TAR@FAR (default: 1e-1 ... 1e-6)')
    protocol.add_argument('--preset', choices=PRESETS, help='pool templates as that project does (default: insightface)')
    protocol.add_argument('--group-far', type=float, help='compare groups at the threshold of this FAR over all pairs (default: 1e-3)')
    protocol.add_argument('--group-threshold', type=float, help='compare groups at this cosine instead')
    protocol.add_argument('--bootstrap', type=int, metavar='N', help='draw people N times for intervals, where the set names them')
    protocol.add_argument('--seed', type=int, help='of the draws (default: 0)')
    protocol.add_argument('--switch', nargs='+', default=[], metavar='KEY=VALUE', help='any other argument of a protocol')
    output = parser.add_argument_group('output')
    output.add_argument('--json', action='store_true', help='print one JSON object instead of text')
    output.add_argument('--out', type=Path, metavar='JSON', help='write everything here')
    output.add_argument('--report', type=Path, metavar='HTML', help='write one page with tables, curves and the worst pairs')
    output.add_argument('--no-images', action='store_true', help='leave faces out of the report')
    output.add_argument('--scores', type=Path, metavar='NPZ', help='write the similarities of all pairs')
    output.add_argument('--thresholds', type=Path, metavar='JSON', help='write the thresholds, for export and verify')
    output.add_argument('--picture', type=Path, metavar='PNG', help='draw ROC, histograms and some pairs of the first set of pairs')
    running = parser.add_argument_group('running a network')
    running.add_argument('--batch-size', type=int, default=64, help='images at a time (default: %(default)s)')
    running.add_argument('--threads', type=int, help="of ONNX Runtime (default: ONNX Runtime's)")
    running.add_argument('--cache', type=Path, metavar='DIR', help="where embeddings are kept (default: the user's cache folder)")
    running.add_argument('--no-cache', action='store_true', help='compute them anew and keep none')
    add_accept_unverified(running)
    add_input_arguments(parser)
    files = parser.add_argument_group('for a file of embeddings')
    files.add_argument('--list', metavar='TXT', help='the name of an image a line (default: names in the file, else the order of the set)')
    files.add_argument('--split', action='store_true', help='its columns are original and mirrored embedding side by side')


def run(args: argparse.Namespace) -> int:
    """Evaluates, prints and writes."""
    if not args.sets and not args.pairs and not args.images:
        args.refuse('give a set with --set, or with --pairs, --images or both')
    from .evaluate_run import evaluate_all
    evaluate_all(args)
    return 0
