# Ten-fold verification of the pair set in val_dataloader and test_dataloader: {set}/accuracy, accuracy_std, accuracy_se, auc, eer,
# tar@far=...
# The thresholds are the literature's grid; rule='exact' tries all.
val_evaluator = dict(type='VerificationMetric', rule='grid')
val_cfg = dict(type='ValLoop')

test_evaluator = val_evaluator
test_cfg = dict(type='TestLoop')
