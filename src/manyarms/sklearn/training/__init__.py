"""Training scikit-learn estimators in slices, for the search and for the automatic models."""
