"""Predictions for AdaptiveMutantUCB: learning curves of trained arms, and a Gaussian process over untried ones."""
