"""Files of ``torch.save`` read by structure: tensors and plain values come out, everything else stays inert."""
