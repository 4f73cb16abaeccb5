"""``.bin`` verification packs."""
