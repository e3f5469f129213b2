"""The parts of AdaptiveMutantUCB: rules, scores, learning curves, and the Gaussian process that chooses new arms."""
