"""FaceX-Zoo's lists of images."""
from .common.image_list import ImageList
from .table import RECORDS


@RECORDS.register('facexzoo_list')
class FaceXZooList(ImageList):
    """Lines of ``path class``, blanks between."""
    separator = None
    fields = '"path class" with blanks between'

    def take(self, fields: list[str], where: str) -> tuple[str, str]:
        if len(fields) != 2:
            raise self.refuse(where, f'{len(fields)} field{"s"[:len(fields) != 1]}')
        return fields[0], fields[1]
