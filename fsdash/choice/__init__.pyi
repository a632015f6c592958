from .splits import rank_splits as rank_splits
