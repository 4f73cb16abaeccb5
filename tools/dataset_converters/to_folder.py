"""Any training set that mmface reads as a folder of images.

    python tools/dataset_converters/to_folder.py data/faces_emore/train.rec data/faces_emore_images

writes

    OUT/<label>/<number>.jpg     the images as they are stored, by their place in the set
    OUT/classes.tsv              label TAB name, where classes have names
    OUT/skipped.tsv              place TAB reason, where images were skipped

Each image is decoded once to make sure that it can be. Open the folder with labels='name' to get the same labels where they have gaps.
Everything is written as .OUT.partial and renamed at the end; the same command resumes an interrupted run. Exit codes: 0 done; 2 bad usage
or input; 3 done, but images were skipped.
"""
import sys

from mmface.apis.converter_command import converter_parser, run_converter
from mmface.datasets.formats.writing.folder_writer import write_folder


def main(argv: list[str] | None = None) -> int:
    """Converts, all or nothing."""
    args = converter_parser(__doc__).parse_args(argv)
    return run_converter('to_folder.py', args, lambda records: write_folder(records, args.out, args.max_skipped, args.workers))


if __name__ == '__main__':
    sys.exit(main())
