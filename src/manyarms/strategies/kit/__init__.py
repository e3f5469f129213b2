"""Building blocks of strategies, for authors of new ones: arms, budgets, rankings and recommendations."""
