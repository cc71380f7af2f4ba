"""Few numbers that stand for many columns: read ``pca.py``, then ``spectrum.py``."""

from pellucid._lazy import lazy_names

_HOME = {
    "FactorAnalysis": "factor_analysis",
    "FastICA": "fast_ica",
    "IncrementalPCA": "incremental_pca",
    "Isomap": "maps.isomap",
    "KernelPCA": "kernel_pca",
    "Latent": "probabilistic",
    "MDS": "maps.mds",
    "NMF": "nmf",
    "PCA": "pca",
    "ProbabilisticPCA": "probabilistic",
    "Stability": "subspace",
    "TSNE": "maps.tsne",
    "TruncatedSVD": "truncated_svd",
    "subspace_stability": "subspace",
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _HOME)
