"""The fingerprint of a protocol: two results are comparable when theirs agree."""
import hashlib
import json


def hash_switches(switches: dict) -> str:
    """SHA-256 (hex) over the switches of a protocol as JSON with sorted keys; the data and their results have no part in it."""
    return hashlib.sha256(json.dumps(switches, sort_keys=True, allow_nan=False).encode()).hexdigest()
