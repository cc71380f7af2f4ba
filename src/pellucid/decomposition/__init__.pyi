"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.decomposition.factor_analysis import FactorAnalysis as FactorAnalysis
from pellucid.decomposition.fast_ica import FastICA as FastICA
from pellucid.decomposition.incremental_pca import IncrementalPCA as IncrementalPCA
from pellucid.decomposition.kernel_pca import KernelPCA as KernelPCA
from pellucid.decomposition.maps.isomap import Isomap as Isomap
from pellucid.decomposition.maps.mds import MDS as MDS
from pellucid.decomposition.maps.tsne import TSNE as TSNE
from pellucid.decomposition.nmf import NMF as NMF
from pellucid.decomposition.pca import PCA as PCA
from pellucid.decomposition.probabilistic import Latent as Latent
from pellucid.decomposition.probabilistic import ProbabilisticPCA as ProbabilisticPCA
from pellucid.decomposition.subspace import Stability as Stability
from pellucid.decomposition.subspace import subspace_stability as subspace_stability
from pellucid.decomposition.truncated_svd import TruncatedSVD as TruncatedSVD

__all__: list[str]
_HOME: dict[str, str]
