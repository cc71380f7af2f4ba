"""scikit-learn code with the import changed: a pipeline, a grid search, a frame."""

from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pellucid import Ridge
from pellucid.data import load_table

INPUTS = ["bill_length_mm", "bill_depth_mm", "flipper_length_mm"]

birds = load_table("penguins").drop_nulls([*INPUTS, "body_mass_g"])
search = GridSearchCV(
    make_pipeline(StandardScaler(), Ridge()),
    {"ridge__alpha": [0.1, 1.0, 10.0, 100.0]},
    cv=KFold(5, shuffle=True, random_state=0),
    scoring="neg_root_mean_squared_error",
).fit(birds[INPUTS], birds["body_mass_g"])

print(f"best alpha {search.best_params_['ridge__alpha']}, error {-search.best_score_:.0f} g")
print(search.best_estimator_[-1].card())
