"""Empirical constants of learning: chosen by hand or by measurement, and not derived.

Each line ends with the benchmark that shows, in brackets, whether a constant serves. Times were fitted to measurements;
the others were chosen by hand, and single values of them were not compared in the records that are kept.

[battery]    errors on generated functions, beside simple models: `make bench-battery`, docs/battery.md
[defaults]   errors on data sets, beside tuned rivals: `make bench-defaults`, docs/defaults-measured.md
[choices]    errors on data sets with this choice and with others: `make bench-choices`, docs/defaults-measured.md
[refine]     errors and times with refined atoms and without: `make bench-choices`, docs/defaults-measured.md
[systems]    errors of the systems of the papers with learned scales: `make bench-systems`, docs/five-papers-today.md
[growth]     errors, atoms and times with more atoms and without: `make bench-growth`, docs/defaults.md
[classes]    errors and log losses of classifiers, beside tuned rivals: `make bench-classify`
[time]       fitted to the times of fits of 442 to 20,000 rows by one thread: tests/learning/test_time_estimate.py
[hand]       no benchmark shows it

Tolerances that follow from rounding stand beside their use, with their derivation.
"""

# Limits and priors of what L-BFGS optimises.
SCALE_LIMITS = (1e-4, 1e2)  # of standardised features: below a feature is irrelevant, above all rows are far [hand]
ALPHA_LIMITS = (1e-6, 1e4)  # with a smaller penalty coefficients are so large that their digits cancel [hand]
WIDTH_FACTOR_LIMITS = (1e-2, 1e2)  # of single atoms [hand]
FIRST_ALPHA = 1e-2  # the penalty to start from [choices]
PRIOR_SPREAD = 1.0  # standard deviation of log scales, before rows are seen [defaults]
PRIOR_SPREAD_OF_LABELS = 0.5  # smaller, since labels say less than numbers [defaults]

# Validation rows, and how many rows ask for what.
VALIDATION_FRACTION = 0.2  # of the rows [defaults]
MAX_VALIDATION_ROWS = 2000  # [defaults]
VALIDATION_FROM = 500  # of fewer rows, atoms are picked from all [defaults]
THREE_KERNELS_FROM = 1000  # fewer rows tell only two kernels apart [defaults]
EVERY_ROW_BELOW = 200  # so few rows have an atom each while scales are learned [battery]
REFINE_FROM = 5000  # fewer rows have gained nothing from refined atoms [refine]
REFINE_CLASSES_FROM = 1500  # the same, of classes, which ask for finer atoms between them [classes]
MAX_SCALES = 1000  # of more features, none has a scale of its own [hand]

# Samples of rows.
DENSE_UP_TO = 2**25  # entries of a sparse X, zeros included, that is made dense: 256 MB [hand]
MAX_STANDARDISED_VALUES = 2**22  # values that are standardised at once: 32 MB [hand]
MAX_STANDARD_WEIGHT = 100.0  # times the median weight, of a row in centre and spread [hand]
MAX_EVIDENCE_WEIGHT = 10.0  # times the median weight, of a row in evidence [hand]
TARGET_QUANTILES = (0.02, 0.98)  # between which nearly all targets are [battery]
MAX_TARGET_RANGES = 2.0  # farther from those, in units of their range, a target is moved nearer [battery]
MAX_CATEGORIES = 30  # a column of more values holds real numbers [hand]
REPEATED_FRACTION = 0.05  # of rows with the features of another: then copies are observations [hand]

# Gross errors: such that the usual shapes of data have none, as tests/learning/test_gross_errors.py checks.
GROSS_ERROR_GAP = 12.0  # times the range of the other values [hand]
CODE_GAP = 3.0  # the same, of a code for missing values [hand]
GROSS_ERROR_FRACTION = 0.01  # of a column at most [hand]
FEW_GROSS_ERRORS = 3  # of a short column at most [hand]
CODE_FRACTION = 0.5  # of a column at most that is a code [hand]
TAIL_LOG_ODDS = 8.0  # against a tail with the index of the others reaching as far [hand]
TAIL_FRACTION = 0.2  # of the largest distances from the median are the tail [hand]
MIN_TAIL = 10  # values of a tail [hand]
MIN_VALUES = 20  # fewer say nothing of what is usual [hand]
MIN_DISTINCT_VALUES = 3  # fewer say nothing either [hand]
MAX_RANGES_AWAY = 1000.0  # times the range of a feature: no kernel reaches as far [hand]

# Leave-one-out errors.
MAX_ERROR_RANGES = 100.0  # times the range of the targets: a larger error counts as this one [battery]
TRIMMED_FRACTION = 0.01  # of the largest and of the smallest targets are not in that range [battery]
MIN_TRIMMED = 3  # of them at least [battery]

# A straight line beside the atoms.
N_REWEIGHTING_ROUNDS = 5  # of iterated weighted least squares after atoms have moved [hand]
TREND_PENALTY = 1e-4  # for each unit of weight, of a line under another loss [battery]
MIN_VARYING_ROWS = 10  # a line goes along features that vary in so many rows [battery]
TREND_ROWS = 4000  # that tell which features are sums of others [hand]
LONG_LINE_FEATURES_A_ROW = 0.02  # with more features, scales are also learned without the line [battery]
MAX_TREND_FEATURES_A_ROW = 0.7  # for a line, unpenalised [battery]

# Starts: scales that a search begins from, compared on a small sample.
MIN_START_ROWS = 200  # [battery]
MAX_START_ROWS = 400  # [battery]
START_SCALE_FACTORS = tuple(2.0**power for power in (0, -3, -1, 1, 3, 5, 7))  # of the first scale [battery]
START_PENALTIES = (1e-3, 1e-1)  # [battery]
OTHER_KERNEL_SCALE_FACTORS = (1.0, 2.0, 0.5)  # of the scales that the first kernel found [battery]
MIN_START_GAIN = 0.05  # fraction of the error by which a later start has to be better [battery]
FALSE_PEAK_PROBABILITY = 1e-3  # of a peak in the periodogram of noise [battery]
MIN_PERIODS = 4  # that are looked for along each feature [battery]
MAX_PERIODS = 256  # the same, of few features [battery]
MAX_TOTAL_PERIODS = 1024  # along all features together [battery]
FREQUENCY_FRACTIONS = (0.25, 0.5)  # of the angular frequency of a peak, for scales [battery]
MIN_FREQUENCY_RATIO = 1.5  # by which such a scale has to be larger than the present one [battery]
PEAK_POWER_FRACTION = 0.8  # of the largest power: the lowest such frequency is the peak [battery]
N_FREQUENCY_ROUNDS = 2  # of looking for fast features [battery]
FAST_START_FROM = 1000  # rows: of fewer, one fast feature is tried by evidence [battery]
MAX_EXPLAINED_START_ERROR = 0.8  # times that of a constant: with more, one fast feature is tried as well [battery]
MAX_FAST_START_ERROR = 1.25  # times the error of the other start, of one that is tried on [battery]

# Scales by leave-one-out errors.
MAX_CROSS_VALIDATED_ATOMS = 400  # at rows, of models that are validated on other folds [hand]
MAX_RELATIVE_LOSS = 2.25  # times the largest loss of the constant: a larger loss counts as this one [battery]
SMALL_SCALE_FRACTION = 0.1  # of the largest scale: features below it may be irrelevant [defaults]
IRRELEVANT_ERROR_FRACTION = 1e-3  # by which the error may grow without irrelevant features [defaults]
MIN_KERNEL_GAIN = 0.01  # fraction of the error by which another kernel has to be better [choices]
CROSS_VALIDATED_FEATURES_A_ROW = 0.03  # with more features, scales are validated on other folds [battery]
CROSS_VALIDATED_BELOW = 1000  # rows: with more, they are not [battery]
N_FOLDS = 4  # of few rows; others are dealt to two [battery]
EVERY_ROW_STEPS = 15  # of L-BFGS, with an atom at every row [battery]
MAX_SCALES_A_ROW = 0.25  # with an atom at every row [battery]
OPTIMISM_QUANTILE = 0.9  # of errors, by which those of other folds are compared [hand]
MAX_OPTIMISM_OF_ERRORS = 5.0  # factor by which intervals may be wider for it [hand]

# Scales by the evidence of a Gaussian process.
ROUNDING_NOISE_FRACTION = 0.1  # of the variance of rounding, taken for granted in discrete targets [battery]
MAX_ROUNDING_NOISE = 0.03  # of the variance of the process [battery]
MIN_KERNEL_EVIDENCE_GAIN = 2.0  # in -2 log evidence, for another kernel than the first [battery]
FINER_SCALE_FACTORS = (2.0, 4.0, 8.0)  # of the scales found, tried on all rows [battery]
FINER_COMMON_SCALE_FACTORS = (2.0, 4.0, 8.0, 16.0, 32.0)  # of a common scale, the same [battery]
SCALE_AND_NOISE_FACTORS = ((1.0, 0.1), (1.0, 0.01), (2.0, 1.0), (2.0, 0.1), (2.0, 0.01))  # corrections tried [battery]
MIN_CORRECTION_GAIN = 0.02  # fraction of the leave-one-out error, for a correction [battery]
CORRECTION_STANDARD_ERRORS = 1.0  # the same, in standard errors [battery]
FAST_FEATURE_FACTOR = 8.0  # of the scale of one feature that is tried as a fast one [battery]
FAST_FEATURE_STEPS = 3  # of L-BFGS for each [battery]
MAX_FAST_FEATURE_TRIALS = 12  # features that are tried so [battery]
FAST_FEATURE_ROWS = 250  # they are tried on [battery]
EVIDENCE_GAIN_A_PARAMETER = 2.0  # in -2 log evidence, as in Akaike's criterion [battery]
EVIDENCE_GAIN_OF_STARTS = 4.0  # beside that: what the best of several starts and kernels gains by chance [battery]
MIN_EVIDENCE_GAIN = 4.0  # in -2 log evidence: below there is nothing to learn [battery]
COMMON_SCALE_FEATURES_A_ROW = 0.05  # with more features, one scale for all is tried [battery]
COMMON_SCALE_FACTORS = (0.125, 0.25, 0.5, 1.0)  # of a common scale [battery]
COMMON_SCALE_NOISES = (0.01, 0.1, 1.0, 10.0)  # with each of those [battery]
TIE_EXPONENTS = (1.0, 0.5, 0.0)  # of scales that are drawn towards a common one: free, between, and all equal [classes]
MIN_TIE_GAIN = 0.01  # fraction of the error of other folds, for tied scales [classes]
TIED_SCALE_FACTORS = (0.35, 0.5, 0.7, 1.0, 1.4, 2.0)  # of all scales, once they are tied [classes]
TIED_NOISE_FACTORS = (1.0, 3.0, 10.0, 30.0)  # with each of those [classes]
PROCESS_PATIENCE = 64  # steps in vain after which the loop over rows ends [defaults]

# Simple models that a learned one has to beat.
MODEL_STANDARD_ERRORS = 1.0  # of the difference, by which it has to be better [battery]
UNCLEAR_EVIDENCE_STANDARD_ERRORS = 2.0  # the same, where evidence has not decided [battery]
MAX_OPTIMISM_OF_LOSSES = 3.0  # factor of losses for numbers that were tuned on the same rows [battery]
USUAL_LOSS_QUANTILE = 0.9  # losses above it count as the quantile [battery]

# Atoms.
ROWS_AN_ATOM = 2  # of those that atoms are picked from [defaults]
MAX_ATOMS_A_ROW = 0.8  # for functions that vary fast [battery]
MAX_FAST_FEATURES = 3  # of functions that have more atoms while scales are learned [battery]
MAX_FAST_ATOMS = 256  # of those [battery]
CLASS_CANDIDATES = 2000  # rows that atoms of classes may be at [classes]
ONE_WIDTH_FACTOR = (1.0,)
WIDTH_FACTORS = (1.0, 4.0, 16.0)  # of gamma, that atoms may have where several are better [defaults]
PICKED_PENALTY_FACTORS = (0.1, 1.0, 10.0, 100.0)  # of the penalty that was learned with fewer atoms [choices]
PENALTY_ROWS = 6000  # on which these are compared [defaults]
MAX_VALIDATOR_ROWS = 6000  # beside validation rows, that coefficients are fitted to [refine]
GROWN_ATOMS = 1024  # that "auto" may go to where more than it begins with pay [growth]
GROW_FROM = 10_000  # rows, some ten an atom: of fewer, more atoms have gained nothing that shows in errors [growth]
GROW_UP_TO = 100_000  # rows: of more, time counts for more [growth]
MIN_GROWING_ATOMS = 320  # picked at first: fewer were enough [growth]
MIN_HALF_GAIN = 0.03  # fraction of the validation error that the second half of them takes off [growth]
MIN_GROWTH_GAIN = 0.02  # fraction of the validation error by which more atoms, refined, have to be better [growth]
GROWTH_ROWS = 14_000  # beside validation rows, that coefficients are fitted to for these comparisons [growth]
MIN_REFINE_GAIN = 2e-3  # fraction of the validation error: a round with less is the last [refine]
SETTLE_FROM = (
    20_000  # rows: of fewer, rounds do not go on until scales settle, nor begin with finer ones as well [refine]
)
SETTLING_ROUNDS = 3  # at most, beyond the usual number [refine]
SETTLED_FACTOR = 1.25  # by which no scale of a settled model changes in a round [refine]
FINER_REFINE_FACTOR = 3.0  # of the scales, for the other start [refine]

# One scale for all of very many features.
WIDE_SCALE_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)  # of the first scale [hand]
WIDE_PENALTY_FACTORS = (1e-2, 1.0, 1e2)  # of the first penalty [hand]
MIN_WIDE_ROWS = 200  # of the sample: half to pick atoms from, half for validation [hand]
MAX_WIDE_ROWS = 2000  # [hand]
MAX_WIDE_ENTRIES = 2**23  # of the sample [hand]
MAX_WIDE_ATOMS = 64  # [hand]
WIDE_ROWS_AN_ATOM = 4  # [hand]

# Codes of many classes, and rare ones.
RARE_SHARE = 0.02  # of the rows: of a rarer class, samples would hold too few [classes]
COMMON_ROWS = 4000  # of each class that are learned from at most, where another is rare [classes]
MAX_CODES = 64  # that are learned from; more are projected at random [classes]

# Coefficients of classes under another loss than the square.
FINAL_LOSS_ROWS = 4000  # that coefficients are fitted to, while penalties are compared [classes]
FINAL_LOSS_FOLDS = 4  # of few rows; of many, one of them is enough [hand]
ONE_SPLIT_FROM = 1000  # rows [hand]
FIRST_FINAL_PENALTY = 0.01  # that is tried [classes]
OTHER_FINAL_PENALTIES = ((0.1, 1.0), (1e-3, 1e-4))  # on either side of it, while the loss falls [classes]
HOPELESS_LOG_LOSS = 1.3  # times that of the square: with more, the first penalty is the last that is tried [classes]
MIN_PENALTY_GAIN = 0.01  # fraction of the loss, for another penalty than the first [classes]
FINAL_WIDTH_FACTORS = (2.0, 4.0)  # of the widths that the square has learned [classes]
MAX_WIDER_LOSS = 0.01  # fraction by which the validation loss of wider atoms may be larger [classes]
MAX_FINAL_PRODUCTS = 1e7  # of rows, atoms and classes, in one look at a loss that may be chosen [hand]
TRIAL_CONVERGED = 1e-4  # gradient of a trial: the square of the three digits to which losses are compared [classes]
TRIAL_ITERATIONS = 40  # of a trial at most [classes]
TREND_FREEDOM = 1e-10  # penalty of the constant and a line, a fraction of the largest: none but for rounding [hand]
MIN_LOG_LOSS_GAIN = 0.02  # fraction of the log loss by which another loss has to be better than the square [classes]
LOG_LOSS_STANDARD_ERRORS = 2.0  # of the difference, by which it may be better instead [hand]

# Width and penalty for another loop than the default one.
WIDTH_SEARCH_ROWS = 1500  # [systems]
WIDTH_SEARCH_ATOMS = 200  # [systems]
WIDTH_SEARCH_VALIDATION_FRACTION = 1 / 3  # of the rows [systems]
WIDTH_SEARCH_ONE_SPLIT_FROM = 1000  # rows; fewer are split several times [systems]
WIDTH_SEARCH_SPLITS = 3  # of few rows [systems]
WIDTH_SEARCH_TARGETS = 3  # of targets that have a path each [systems]
WIDTH_SEARCH_STEPS = 4  # each way at most [systems]
WIDTH_STEP = 2.0  # scales are halved or doubled [systems]
PENALTY_STEP = 10.0  # penalties are divided or multiplied [systems]

# The estimate of a fit's time, in operations of a matrix product.
OPERATIONS_A_VALUE = 24.0  # in the time that one value of a dictionary takes from memory [time]
SECONDS_A_STEP = 8e-4  # of a loop, beside that [time]
LOSS_OPERATIONS_A_ROW = 3.3e4  # of a step under another loss than the squared one, refits included [time]
OUTPUTS_POWER = 0.4  # of the number of outputs, with which those grow [time]
ATTAINED_SPEED = 0.33  # fraction of the speed of a small matrix product, which stays in the cache [time]
EVALUATIONS_A_STEP = 1.5  # of L-BFGS [time]
REFIT_EVALUATIONS = 75.0  # of all rows, by the last refit of a loss [time]
PICKED_FRACTION = 0.85  # of the atoms that may be picked [time]
KEPT_FRACTION = 0.6  # of these that a loop over all rows has [time]
LIKELY_STEPS = 4.0  # of a loop over rows, for the root of their number [time]
LIKELY_STARTS = 60  # that are compared [time]
LIKELY_REFINE_ROUNDS, LIKELY_SETTLING_ROUNDS = 2, 3  # [time]
LIKELY_KERNEL_ROUNDS = 0.7  # of a kernel that is compared with the first [time]
LIKELY_FINAL_LOSS = 0.3  # chance that classes, where validation rows are for it, have coefficients under it [time]
VALIDATION_FRACTION_OF_TIME = 0.1  # of that of the loop over all rows, of classes [time]
LIKELY_WIDTH_TRIALS = 7  # of a search for the width of another loop [time]
CLASSICAL_ATOMS = 200  # of a loop over a classical dictionary [time]
CLASSICAL_CANDIDATES = 10_000  # of the same [time]
PICK_TIME_FRACTION = 0.4  # of a round of learning scales [time]
KERNELS_TIME_FRACTION = 0.5  # of learning a process, in which kernels are compared [time]
