"""MagFace's lists of images."""
from .common.image_list import ImageList
from .table import RECORDS


@RECORDS.register('magface_list')
class MagFaceList(ImageList):
    """Lines of ``path ... class``, blanks between: the first field is the path and the third the class, the second is not used."""
    separator = None
    fields = '"path, anything, class" with blanks between'

    def take(self, fields: list[str], where: str) -> tuple[str, str]:
        if len(fields) != 3:
            raise self.refuse(where, f'{len(fields)} field{"s"[:len(fields) != 1]}')
        return fields[0], fields[2]
