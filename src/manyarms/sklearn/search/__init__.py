"""`BanditSearchCV`: a search over the parameters of any scikit-learn estimator."""
