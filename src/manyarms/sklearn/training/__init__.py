"""Training scikit-learn estimators in slices: what the search and the automatic models share."""
