"""Pictures of distributions, posteriors and sampling. Read ``posterior_update.py`` first."""
