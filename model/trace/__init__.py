"""Named tensors, and the tap that records and replaces them."""
