"""The lists that MXNet's im2rec makes and packs."""
from .common.image_list import ImageList
from .table import RECORDS


@RECORDS.register('im2rec_list')
class Im2RecList(ImageList):
    """Lines of ``index TAB class TAB path``; of several labels the first is the class."""
    fields = '"index TAB class TAB path"'

    def take(self, fields: list[str], where: str) -> tuple[str, str]:
        if len(fields) < 3:
            raise self.refuse(where, f'{len(fields)} fields')
        if not fields[0].isdecimal():
            raise self.refuse(where, f'index {fields[0]!r}')
        return fields[-1], fields[1]
