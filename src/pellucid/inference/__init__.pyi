"""Generated from the table in __init__.py by `make stubs`; do not edit."""

from pellucid.inference.beliefs.belief import hpd_interval as hpd_interval
from pellucid.inference.beliefs.beta_bernoulli import BetaBernoulli as BetaBernoulli
from pellucid.inference.beliefs.dirichlet_categorical import (
    DirichletCategorical as DirichletCategorical,
)
from pellucid.inference.beliefs.gamma_poisson import GammaPoisson as GammaPoisson
from pellucid.inference.beliefs.linear_gaussian import LinearGaussian as LinearGaussian
from pellucid.inference.beliefs.linear_gaussian import (
    MultivariateNormalMean as MultivariateNormalMean,
)
from pellucid.inference.beliefs.normal_beliefs import NormalInverseGamma as NormalInverseGamma
from pellucid.inference.beliefs.normal_beliefs import NormalMean as NormalMean
from pellucid.inference.beliefs.normal_beliefs import NormalVariance as NormalVariance
from pellucid.inference.beliefs.normal_inverse_wishart import (
    MultivariateStudentT as MultivariateStudentT,
)
from pellucid.inference.beliefs.normal_inverse_wishart import (
    NormalInverseWishart as NormalInverseWishart,
)
from pellucid.inference.covariance.graphical_lasso import GraphicalLasso as GraphicalLasso
from pellucid.inference.covariance.graphical_lasso_cv import GraphicalLassoCV as GraphicalLassoCV
from pellucid.inference.covariance.ledoit_wolf import LedoitWolf as LedoitWolf
from pellucid.inference.decisions.bayes_classifier import BayesClassifier as BayesClassifier
from pellucid.inference.decisions.bayes_error import BayesError as BayesError
from pellucid.inference.decisions.decisions import Decision as Decision
from pellucid.inference.decisions.decisions import bayes_decision as bayes_decision
from pellucid.inference.decisions.decisions import cost_threshold as cost_threshold
from pellucid.inference.decisions.loss_matrix import LossMatrixClassifier as LossMatrixClassifier
from pellucid.inference.decisions.losses import Loss as Loss
from pellucid.inference.decisions.losses import get_loss as get_loss
from pellucid.inference.decisions.losses import optimal_prediction as optimal_prediction
from pellucid.inference.decisions.prediction_error import EPE as EPE
from pellucid.inference.decisions.prediction_error import LinearPredictor as LinearPredictor
from pellucid.inference.decisions.prediction_error import (
    best_linear_predictor as best_linear_predictor,
)
from pellucid.inference.decisions.prediction_error import (
    expected_prediction_error as expected_prediction_error,
)
from pellucid.inference.distributions.category_counts import Categorical as Categorical
from pellucid.inference.distributions.category_counts import Dirichlet as Dirichlet
from pellucid.inference.distributions.category_counts import Multinomial as Multinomial
from pellucid.inference.distributions.continuous import Beta as Beta
from pellucid.inference.distributions.continuous import Exponential as Exponential
from pellucid.inference.distributions.continuous import Gamma as Gamma
from pellucid.inference.distributions.continuous import InverseGamma as InverseGamma
from pellucid.inference.distributions.continuous import Uniform as Uniform
from pellucid.inference.distributions.discrete import Bernoulli as Bernoulli
from pellucid.inference.distributions.discrete import BetaBinomial as BetaBinomial
from pellucid.inference.distributions.discrete import Binomial as Binomial
from pellucid.inference.distributions.discrete import NegativeBinomial as NegativeBinomial
from pellucid.inference.distributions.discrete import Poisson as Poisson
from pellucid.inference.distributions.distribution import ScaledDensity as ScaledDensity
from pellucid.inference.distributions.distribution import jensen_gap as jensen_gap
from pellucid.inference.distributions.location_scale import Laplace as Laplace
from pellucid.inference.distributions.location_scale import Logistic as Logistic
from pellucid.inference.distributions.location_scale import StudentT as StudentT
from pellucid.inference.distributions.mixture_distribution import (
    MixtureDistribution as MixtureDistribution,
)
from pellucid.inference.distributions.multivariate_normal import (
    MultivariateNormal as MultivariateNormal,
)
from pellucid.inference.distributions.normal import Normal as Normal
from pellucid.inference.estimation.discrete_posterior import DiscretePosterior as DiscretePosterior
from pellucid.inference.estimation.distribution_choice import (
    DistributionChoice as DistributionChoice,
)
from pellucid.inference.estimation.distribution_choice import (
    choose_distribution as choose_distribution,
)
from pellucid.inference.estimation.distribution_fit import DistributionFit as DistributionFit
from pellucid.inference.estimation.distribution_fit import fit_distribution as fit_distribution
from pellucid.inference.estimation.estimates import Estimate as Estimate
from pellucid.inference.estimation.estimates import compare_estimates as compare_estimates
from pellucid.inference.estimation.estimates import maximum_a_posteriori as maximum_a_posteriori
from pellucid.inference.estimation.estimates import maximum_likelihood as maximum_likelihood
from pellucid.inference.estimation.estimator_study import EstimatorStudy as EstimatorStudy
from pellucid.inference.estimation.estimator_study import study_estimator as study_estimator
from pellucid.inference.estimation.grid_posterior import GridPosterior as GridPosterior
from pellucid.inference.estimation.information import cramer_rao as cramer_rao
from pellucid.inference.estimation.information import fisher_information as fisher_information
from pellucid.inference.estimation.laplace import LaplaceApproximation as LaplaceApproximation
from pellucid.inference.estimation.laplace import laplace_approximation as laplace_approximation
from pellucid.inference.estimation.model_check import PredictiveCheck as PredictiveCheck
from pellucid.inference.estimation.model_check import predictive_check as predictive_check
from pellucid.inference.estimation.model_comparison import ModelComparison as ModelComparison
from pellucid.inference.estimation.model_comparison import compare_models as compare_models
from pellucid.inference.estimation.posteriors import Posterior as Posterior
from pellucid.inference.estimation.posteriors import posterior as posterior
from pellucid.inference.estimation.predictive import Predictive as Predictive
from pellucid.inference.estimation.predictive import posterior_predictive as posterior_predictive
from pellucid.inference.sampling.adaptive_walk import AdaptiveWalk as AdaptiveWalk
from pellucid.inference.sampling.chains import Chains as Chains
from pellucid.inference.sampling.diagnostics import effective_sample_size as effective_sample_size
from pellucid.inference.sampling.diagnostics import rhat as rhat
from pellucid.inference.sampling.hamiltonian import Hamiltonian as Hamiltonian
from pellucid.inference.sampling.proposals import GaussianWalk as GaussianWalk
from pellucid.inference.sampling.proposals import LogNormalWalk as LogNormalWalk
from pellucid.inference.sampling.walks import metropolis_hastings as metropolis_hastings

__all__: list[str]
_HOME: dict[str, str]
