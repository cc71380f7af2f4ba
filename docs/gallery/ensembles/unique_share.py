from pellucid.plots import unique_share

unique_share().plot()
