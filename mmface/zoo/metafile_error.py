"""What is wrong in a metafile."""


class MetafileError(ValueError):
    """A metafile, or the model index, that does not say what it should.

    Args:
        where: the file, and the model in it.
        problem: what is wrong.
        hint: what would be right.
    """

    def __init__(self, where: object, problem: str, hint: str) -> None:
        super().__init__(f'{where}: {problem} ({hint})')
