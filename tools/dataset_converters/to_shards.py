"""Any training set that mmface reads as tar shards, for the webdataset library.

    python tools/dataset_converters/to_shards.py data/faces_emore/train.rec data/faces_emore_shards

writes

    OUT/train-000000.tar ...     --shard-size images each: KEY.jpg as it is stored, KEY.cls with its label
    OUT/classes.tsv              label TAB name, where classes have names
    OUT/skipped.tsv              place TAB reason, where images were skipped

Each image is decoded once to make sure that it can be. Everything is written as .OUT.partial and renamed at the end; the same command
resumes an interrupted run. Exit codes: 0 done; 2 bad usage or input; 3 done, but images were skipped.
"""
import sys

from mmface.apis.converter_command import converter_parser, run_converter
from mmface.datasets.formats.tar_shards.writer import write_shards


def main(argv: list[str] | None = None) -> int:
    """Converts, all or nothing."""
    parser = converter_parser(__doc__)
    parser.add_argument('--shard-size', type=int, default=10_000, help='images a shard (default: %(default)s)')
    parser.add_argument('--name', default='train', help='what the shards are called (default: %(default)s)')
    args = parser.parse_args(argv)
    return run_converter(
        'to_shards.py', args,
        lambda records: write_shards(records, args.out, args.shard_size, args.name, args.max_skipped, args.workers))


if __name__ == '__main__':
    sys.exit(main())
