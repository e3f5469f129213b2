"""Graphs of layers: spaces of networks, their mutations and crossovers, shapes and costs. PyTorch is not needed."""
