"""Pure tensors and arrays in and out: no registry, no MMEngine, nothing else of mmface."""
