"""Any training set that mmface reads as RecordIO, as InsightFace packs it.

    python tools/dataset_converters/to_rec.py data/casia/images data/casia_rec

writes

    OUT/train.rec, train.idx, property     images from key 1, class by class, a record an identity, the header
    OUT/classes.tsv                        label TAB name, where classes have names
    OUT/skipped.tsv                        place TAB reason, where images were skipped

Images are stored as they are; each is decoded once to make sure that it can be, and all must have one size. Everything is written as
.OUT.partial and renamed at the end; the same command resumes an interrupted run. Exit codes: 0 done; 2 bad usage or input; 3 done, but
images were skipped.
"""
import sys

from mmface.apis.converter_command import converter_parser, run_converter
from mmface.datasets.formats.recordio.set_writer import write_rec


def main(argv: list[str] | None = None) -> int:
    """Converts, all or nothing."""
    args = converter_parser(__doc__).parse_args(argv)
    return run_converter('to_rec.py', args, lambda records: write_rec(records, args.out, args.max_skipped, args.workers))


if __name__ == '__main__':
    sys.exit(main())
