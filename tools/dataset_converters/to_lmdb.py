"""Any training set that mmface reads as LMDB. Needs "mmface[lmdb]".

    python tools/dataset_converters/to_lmdb.py data/faces_emore/train.rec data/faces_emore_lmdb

writes

    OUT/data.mdb          key = ordinal of nine digits, value = what a .rec holds: IRHeader, label, image; __meta__ is JSON
    OUT/skipped.tsv       place TAB reason, where images were skipped

Images are stored as they are; each is decoded once to make sure that it can be. Everything is written as .OUT.partial and renamed at the
end; the same command resumes an interrupted run. Exit codes: 0 done; 2 bad usage or input; 3 done, but images were skipped.
"""
import sys

from mmface.apis.converter_command import converter_parser, run_converter
from mmface.datasets.formats.lmdb.writer import write_lmdb


def main(argv: list[str] | None = None) -> int:
    """Converts, all or nothing."""
    args = converter_parser(__doc__).parse_args(argv)
    return run_converter('to_lmdb.py', args, lambda records: write_lmdb(records, args.out, args.max_skipped, args.workers))


if __name__ == '__main__':
    sys.exit(main())
