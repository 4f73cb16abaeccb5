"""Why a file of the zoo is not there."""


class DownloadError(OSError):
    """A file that could not be fetched, or is not the one expected; says from where and what to do."""


class UnverifiedError(DownloadError):
    """A file whose author publishes no hash, and which nobody has accepted as it comes."""
