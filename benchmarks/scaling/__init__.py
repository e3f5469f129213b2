"""How far one study scales: the costs of its process, a simulation of many workers, and the regret they cost."""
