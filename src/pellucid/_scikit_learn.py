"""Public names of scikit-learn by module, for ``pellucid.Birch``. Generated.

``python tools/migrating.py`` writes this file from the installed scikit-learn; it is read only when
a name is asked for that is not here.
"""

NAMES = {
    "sklearn": (
        "calibration callback compose config_context covariance cross_decomposition datasets "
        "discriminant_analysis dummy exceptions experimental externals feature_extraction "
        "feature_selection frozen gaussian_process get_config impute inspection isotonic "
        "kernel_approximation kernel_ridge linear_model manifold metrics model_selection "
        "multiclass multioutput neural_network pipeline preprocessing random_projection "
        "semi_supervised set_config show_versions svm utils"
    ),
    "sklearn.base": (
        "BaseEstimator BiclusterMixin ClassNamePrefixFeaturesOutMixin ClassifierMixin "
        "ClusterMixin DensityMixin MetaEstimatorMixin MultiOutputMixin OneToOneFeatureMixin "
        "OutlierMixin RegressorMixin TransformerMixin clone is_classifier is_clusterer "
        "is_outlier_detector is_regressor"
    ),
    "sklearn.calibration": "CalibratedClassifierCV CalibrationDisplay calibration_curve",
    "sklearn.callback": (
        "AutoPropagatedCallback CallbackContext CallbackSupportMixin FitCallback ProgressBar "
        "ScoringMonitor ScoringMonitorLog with_callbacks"
    ),
    "sklearn.cluster": (
        "AffinityPropagation AgglomerativeClustering Birch BisectingKMeans DBSCAN "
        "FeatureAgglomeration HDBSCAN KMeans MeanShift MiniBatchKMeans OPTICS "
        "SpectralBiclustering SpectralClustering SpectralCoclustering affinity_propagation "
        "cluster_optics_dbscan cluster_optics_xi compute_optics_graph dbscan estimate_bandwidth "
        "get_bin_seeds k_means kmeans_plusplus linkage_tree mean_shift spectral_clustering "
        "ward_tree"
    ),
    "sklearn.compose": (
        "ColumnTransformer TransformedTargetRegressor make_column_selector make_column_transformer"
    ),
    "sklearn.covariance": (
        "EllipticEnvelope EmpiricalCovariance GraphicalLasso GraphicalLassoCV LedoitWolf "
        "MinCovDet OAS ShrunkCovariance empirical_covariance fast_mcd graphical_lasso "
        "ledoit_wolf ledoit_wolf_shrinkage log_likelihood oas shrunk_covariance"
    ),
    "sklearn.cross_decomposition": "CCA PLSCanonical PLSRegression PLSSVD",
    "sklearn.datasets": (
        "clear_data_home dump_svmlight_file fetch_20newsgroups fetch_20newsgroups_vectorized "
        "fetch_california_housing fetch_covtype fetch_file fetch_kddcup99 fetch_lfw_pairs "
        "fetch_lfw_people fetch_olivetti_faces fetch_openml fetch_rcv1 "
        "fetch_species_distributions get_data_home load_breast_cancer load_diabetes load_digits "
        "load_files load_iris load_linnerud load_sample_image load_sample_images "
        "load_svmlight_file load_svmlight_files load_wine make_biclusters make_blobs "
        "make_checkerboard make_circles make_classification make_friedman1 make_friedman2 "
        "make_friedman3 make_gaussian_quantiles make_hastie_10_2 make_low_rank_matrix "
        "make_moons make_multilabel_classification make_regression make_s_curve "
        "make_sparse_coded_signal make_sparse_spd_matrix make_sparse_uncorrelated "
        "make_spd_matrix make_swiss_roll"
    ),
    "sklearn.decomposition": (
        "DictionaryLearning FactorAnalysis FastICA IncrementalPCA KernelPCA "
        "LatentDirichletAllocation MiniBatchDictionaryLearning MiniBatchNMF MiniBatchSparsePCA "
        "NMF PCA SparseCoder SparsePCA TruncatedSVD dict_learning dict_learning_online fastica "
        "non_negative_factorization randomized_svd sparse_encode"
    ),
    "sklearn.discriminant_analysis": "LinearDiscriminantAnalysis QuadraticDiscriminantAnalysis",
    "sklearn.dummy": "DummyClassifier DummyRegressor",
    "sklearn.ensemble": (
        "AdaBoostClassifier AdaBoostRegressor BaggingClassifier BaggingRegressor BaseEnsemble "
        "ExtraTreesClassifier ExtraTreesRegressor GradientBoostingClassifier "
        "GradientBoostingRegressor HistGradientBoostingClassifier HistGradientBoostingRegressor "
        "IsolationForest RandomForestClassifier RandomForestRegressor RandomTreesEmbedding "
        "StackingClassifier StackingRegressor VotingClassifier VotingRegressor"
    ),
    "sklearn.exceptions": (
        "ConvergenceWarning DataConversionWarning DataDimensionalityWarning EfficiencyWarning "
        "EstimatorCheckFailedWarning FitFailedWarning NotFittedError PositiveSpectrumWarning "
        "SkipTestWarning UndefinedMetricWarning UnsetMetadataPassedError"
    ),
    "sklearn.feature_extraction": (
        "DictVectorizer FeatureHasher grid_to_graph image img_to_graph text"
    ),
    "sklearn.feature_extraction.image": (
        "PatchExtractor extract_patches_2d reconstruct_from_patches_2d"
    ),
    "sklearn.feature_extraction.text": (
        "CountVectorizer ENGLISH_STOP_WORDS HashingVectorizer TfidfTransformer TfidfVectorizer "
        "strip_accents_ascii strip_accents_unicode strip_tags"
    ),
    "sklearn.feature_selection": (
        "GenericUnivariateSelect RFE RFECV SelectFdr SelectFpr SelectFromModel SelectFwe "
        "SelectKBest SelectPercentile SelectorMixin SequentialFeatureSelector VarianceThreshold "
        "chi2 f_classif f_oneway f_regression mutual_info_classif mutual_info_regression "
        "r_regression"
    ),
    "sklearn.frozen": "FrozenEstimator",
    "sklearn.gaussian_process": "GaussianProcessClassifier GaussianProcessRegressor kernels",
    "sklearn.gaussian_process.kernels": (
        "CompoundKernel ConstantKernel DotProduct ExpSineSquared Exponentiation "
        "GenericKernelMixin Hyperparameter Kernel KernelOperator Matern NormalizedKernelMixin "
        "PairwiseKernel Product RBF RationalQuadratic StationaryKernelMixin Sum WhiteKernel"
    ),
    "sklearn.impute": "IterativeImputer KNNImputer MissingIndicator SimpleImputer",
    "sklearn.inspection": (
        "DecisionBoundaryDisplay PartialDependenceDisplay partial_dependence permutation_importance"
    ),
    "sklearn.isotonic": "IsotonicRegression check_increasing isotonic_regression",
    "sklearn.kernel_approximation": (
        "AdditiveChi2Sampler Nystroem PolynomialCountSketch RBFSampler SkewedChi2Sampler"
    ),
    "sklearn.kernel_ridge": "KernelRidge",
    "sklearn.linear_model": (
        "ARDRegression BayesianRidge ElasticNet ElasticNetCV GammaRegressor HuberRegressor Lars "
        "LarsCV Lasso LassoCV LassoLars LassoLarsCV LassoLarsIC LinearRegression "
        "LogisticRegression LogisticRegressionCV MultiTaskElasticNet MultiTaskElasticNetCV "
        "MultiTaskLasso MultiTaskLassoCV OrthogonalMatchingPursuit OrthogonalMatchingPursuitCV "
        "PassiveAggressiveClassifier PassiveAggressiveRegressor Perceptron PoissonRegressor "
        "QuantileRegressor RANSACRegressor Ridge RidgeCV RidgeClassifier RidgeClassifierCV "
        "SGDClassifier SGDOneClassSVM SGDRegressor TheilSenRegressor TweedieRegressor enet_path "
        "lars_path lars_path_gram lasso_path orthogonal_mp orthogonal_mp_gram ridge_regression"
    ),
    "sklearn.manifold": (
        "ClassicalMDS Isomap LocallyLinearEmbedding MDS SpectralEmbedding TSNE "
        "locally_linear_embedding smacof spectral_embedding trustworthiness"
    ),
    "sklearn.metrics": (
        "ConfusionMatrixDisplay DetCurveDisplay DistanceMetric PrecisionRecallDisplay "
        "PredictionErrorDisplay RocCurveDisplay accuracy_score adjusted_mutual_info_score "
        "adjusted_rand_score auc average_precision_score balanced_accuracy_score "
        "brier_score_loss calinski_harabasz_score check_scoring class_likelihood_ratios "
        "classification_report cohen_kappa_score completeness_score confusion_matrix "
        "confusion_matrix_at_thresholds consensus_score coverage_error d2_absolute_error_score "
        "d2_brier_score d2_log_loss_score d2_pinball_score d2_tweedie_score "
        "davies_bouldin_score dcg_score det_curve euclidean_distances explained_variance_score "
        "f1_score fbeta_score fowlkes_mallows_score get_scorer get_scorer_names hamming_loss "
        "hinge_loss homogeneity_completeness_v_measure homogeneity_score jaccard_score "
        "label_ranking_average_precision_score label_ranking_loss log_loss make_scorer "
        "matthews_corrcoef max_error mean_absolute_error mean_absolute_percentage_error "
        "mean_gamma_deviance mean_pinball_loss mean_poisson_deviance mean_squared_error "
        "mean_squared_log_error mean_tweedie_deviance median_absolute_error "
        "metric_at_thresholds multilabel_confusion_matrix mutual_info_score "
        "nan_euclidean_distances ndcg_score normalized_mutual_info_score pair_confusion_matrix "
        "pairwise_distances pairwise_distances_argmin pairwise_distances_argmin_min "
        "pairwise_distances_chunked pairwise_kernels precision_recall_curve "
        "precision_recall_fscore_support precision_score r2_score rand_score recall_score "
        "roc_auc_score roc_curve root_mean_squared_error root_mean_squared_log_error "
        "silhouette_samples silhouette_score top_k_accuracy_score v_measure_score zero_one_loss"
    ),
    "sklearn.metrics.cluster": "contingency_matrix entropy expected_mutual_information",
    "sklearn.metrics.pairwise": (
        "additive_chi2_kernel check_paired_arrays check_pairwise_arrays chi2_kernel "
        "cosine_distances cosine_similarity distance_metrics haversine_distances kernel_metrics "
        "laplacian_kernel linear_kernel manhattan_distances paired_cosine_distances "
        "paired_distances paired_euclidean_distances paired_manhattan_distances "
        "polynomial_kernel rbf_kernel sigmoid_kernel"
    ),
    "sklearn.mixture": "BayesianGaussianMixture GaussianMixture",
    "sklearn.model_selection": (
        "BaseCrossValidator BaseShuffleSplit FixedThresholdClassifier GridSearchCV GroupKFold "
        "GroupShuffleSplit HalvingGridSearchCV HalvingRandomSearchCV KFold LearningCurveDisplay "
        "LeaveOneGroupOut LeaveOneOut LeavePGroupsOut LeavePOut ParameterGrid ParameterSampler "
        "PredefinedSplit RandomizedSearchCV RepeatedKFold RepeatedStratifiedKFold ShuffleSplit "
        "StratifiedGroupKFold StratifiedKFold StratifiedShuffleSplit TimeSeriesSplit "
        "TunedThresholdClassifierCV ValidationCurveDisplay check_cv cross_val_predict "
        "cross_val_score cross_validate learning_curve permutation_test_score train_test_split "
        "validation_curve"
    ),
    "sklearn.multiclass": "OneVsOneClassifier OneVsRestClassifier OutputCodeClassifier",
    "sklearn.multioutput": (
        "ClassifierChain MultiOutputClassifier MultiOutputRegressor RegressorChain"
    ),
    "sklearn.naive_bayes": "BernoulliNB CategoricalNB ComplementNB GaussianNB MultinomialNB",
    "sklearn.neighbors": (
        "BallTree KDTree KNeighborsClassifier KNeighborsRegressor KNeighborsTransformer "
        "KernelDensity LocalOutlierFactor NearestCentroid NearestNeighbors "
        "NeighborhoodComponentsAnalysis RadiusNeighborsClassifier RadiusNeighborsRegressor "
        "RadiusNeighborsTransformer VALID_METRICS VALID_METRICS_SPARSE kneighbors_graph "
        "radius_neighbors_graph sort_graph_by_row_values"
    ),
    "sklearn.neural_network": "BernoulliRBM MLPClassifier MLPRegressor",
    "sklearn.pipeline": "FeatureUnion Pipeline make_pipeline make_union",
    "sklearn.preprocessing": (
        "Binarizer FunctionTransformer KBinsDiscretizer KernelCenterer LabelBinarizer "
        "LabelEncoder MaxAbsScaler MinMaxScaler MultiLabelBinarizer Normalizer OneHotEncoder "
        "OrdinalEncoder PolynomialFeatures PowerTransformer QuantileTransformer RobustScaler "
        "SplineTransformer StandardScaler TargetEncoder add_dummy_feature binarize "
        "label_binarize maxabs_scale minmax_scale normalize power_transform quantile_transform "
        "robust_scale scale"
    ),
    "sklearn.random_projection": (
        "GaussianRandomProjection SparseRandomProjection johnson_lindenstrauss_min_dim"
    ),
    "sklearn.semi_supervised": "LabelPropagation LabelSpreading SelfTrainingClassifier",
    "sklearn.svm": "LinearSVC LinearSVR NuSVC NuSVR OneClassSVM SVC SVR l1_min_c",
    "sklearn.tree": (
        "BaseDecisionTree DecisionTreeClassifier DecisionTreeRegressor ExtraTreeClassifier "
        "ExtraTreeRegressor export_graphviz export_text plot_tree"
    ),
    "sklearn.utils": (
        "Bunch ClassifierTags InputTags RegressorTags Tags TargetTags TransformerTags "
        "all_estimators as_float_array assert_all_finite check_X_y check_array "
        "check_consistent_length check_random_state check_scalar check_symmetric column_or_1d "
        "compute_class_weight compute_sample_weight deprecated estimator_html_repr gen_batches "
        "gen_even_slices get_tags indexable metadata_routing murmurhash3_32 resample safe_mask "
        "safe_sqr shuffle"
    ),
    "sklearn.utils.arrayfuncs": "cholesky_delete min_pos",
    "sklearn.utils.discovery": "all_displays all_functions",
    "sklearn.utils.estimator_checks": (
        "check_all_zero_sample_weights_error check_array_api_input "
        "check_array_api_input_and_values check_array_api_mixed_inputs "
        "check_array_api_same_namespace check_class_weight_balanced_classifiers "
        "check_class_weight_balanced_linear_classifier check_class_weight_classifiers "
        "check_classifier_data_not_an_array check_classifier_multioutput "
        "check_classifier_not_supporting_multiclass check_classifiers_classes "
        "check_classifiers_multilabel_output_format_decision_function "
        "check_classifiers_multilabel_output_format_predict "
        "check_classifiers_multilabel_output_format_predict_proba "
        "check_classifiers_multilabel_representation_invariance check_classifiers_one_label "
        "check_classifiers_one_label_sample_weights check_classifiers_predictions "
        "check_classifiers_regression_target check_classifiers_train "
        "check_clusterer_compute_labels_predict check_clustering check_complex_data "
        "check_dataframe_column_names_consistency check_decision_proba_consistency "
        "check_dict_unchanged check_do_not_raise_errors_in_init_or_set_params "
        "check_dont_overwrite_parameters check_dtype_object check_estimator "
        "check_estimator_cloneable check_estimator_repr check_estimator_sparse_array "
        "check_estimator_sparse_matrix check_estimator_sparse_tag check_estimator_tags_renamed "
        "check_estimators_data_not_an_array check_estimators_dtypes "
        "check_estimators_empty_data_messages check_estimators_fit_returns_self "
        "check_estimators_nan_inf check_estimators_overwrite_params "
        "check_estimators_partial_fit_n_features check_estimators_pickle "
        "check_estimators_unfitted check_f_contiguous_array_estimator check_fit1d "
        "check_fit2d_1feature check_fit2d_1sample check_fit2d_predict1d "
        "check_fit_check_is_fitted check_fit_idempotent check_fit_non_negative "
        "check_fit_score_takes_y check_get_feature_names_out_error check_get_params_invariance "
        "check_global_output_transform_pandas check_global_set_output_transform_polars "
        "check_inplace_ensure_writeable check_methods_sample_order_invariance "
        "check_methods_subset_invariance check_mixin_order check_n_features_in "
        "check_n_features_in_after_fitting check_no_attributes_set_in_init "
        "check_non_transformer_estimators_n_iter check_nonsquare_error "
        "check_outlier_contamination check_outlier_corruption check_outliers_fit_predict "
        "check_outliers_train check_param_validation check_parameters_default_constructible "
        "check_pipeline_consistency check_positive_only_tag_during_fit "
        "check_readonly_memmap_input check_regressor_data_not_an_array "
        "check_regressor_multioutput check_regressors_int check_regressors_no_decision_function "
        "check_regressors_train check_requires_y_none "
        "check_sample_weight_equivalence_on_dense_data "
        "check_sample_weight_equivalence_on_sparse_data check_sample_weights_list "
        "check_sample_weights_not_an_array check_sample_weights_not_overwritten "
        "check_sample_weights_pandas_series check_sample_weights_shape "
        "check_set_output_transform check_set_output_transform_pandas "
        "check_set_output_transform_polars check_set_params check_sparsify_coefficients "
        "check_supervised_y_2d check_supervised_y_no_nan check_transformer_data_not_an_array "
        "check_transformer_general check_transformer_get_feature_names_out "
        "check_transformer_get_feature_names_out_pandas check_transformer_n_iter "
        "check_transformer_preserve_dtypes check_transformers_unfitted "
        "check_transformers_unfitted_stateless check_valid_tag_types estimator_checks_generator "
        "parametrize_with_checks"
    ),
    "sklearn.utils.extmath": (
        "cartesian density fast_logdet make_nonnegative randomized_range_finder row_norms "
        "safe_sparse_dot softmax squared_norm stable_cumsum svd_flip weighted_mode"
    ),
    "sklearn.utils.fixes": "pd_fillna tarfile_extractall",
    "sklearn.utils.graph": "single_source_shortest_path_length",
    "sklearn.utils.metadata_routing": (
        "MetadataRequest MetadataRouter MethodMapping get_routing_for_object process_routing"
    ),
    "sklearn.utils.metaestimators": "available_if",
    "sklearn.utils.multiclass": (
        "check_classification_targets class_distribution is_multilabel type_of_target unique_labels"
    ),
    "sklearn.utils.murmurhash": (
        "murmurhash3_bytes_s32 murmurhash3_bytes_u32 murmurhash3_int_s32 murmurhash3_int_u32"
    ),
    "sklearn.utils.parallel": "Parallel delayed",
    "sklearn.utils.random": "sample_without_replacement",
    "sklearn.utils.sparsefuncs": (
        "count_nonzero csc_median_axis_0 incr_mean_variance_axis inplace_column_scale "
        "inplace_csr_column_scale inplace_csr_row_scale inplace_row_scale inplace_swap_column "
        "inplace_swap_row inplace_swap_row_csc inplace_swap_row_csr mean_variance_axis "
        "min_max_axis sparse_matmul_to_dense"
    ),
    "sklearn.utils.sparsefuncs_fast": (
        "assign_rows_csr csc_mean_variance_axis0 csr_matmul_csr_to_dense "
        "csr_mean_variance_axis0 csr_row_norms incr_mean_variance_axis0 "
        "inplace_csr_row_normalize_l1 inplace_csr_row_normalize_l2"
    ),
    "sklearn.utils.validation": (
        "check_is_fitted check_memory check_non_negative has_fit_parameter validate_data"
    ),
}


def sentence(name: str) -> str:
    """Which import of scikit-learn has the name; "" where none has.

    >>> sentence("Birch")
    ": scikit-learn's works with our estimators, from sklearn.cluster import Birch"
    """
    for module, names in NAMES.items():
        if name in names.split():
            found = f"from {module} import {name}"
            return f": scikit-learn's works with our estimators, {found}"
    return ""
