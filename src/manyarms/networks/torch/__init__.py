"""Networks in PyTorch: building, training, exporting."""
