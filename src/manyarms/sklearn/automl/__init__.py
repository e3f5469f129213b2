"""`AutoClassifier` and `AutoRegressor`: a table in, a trained model out."""
