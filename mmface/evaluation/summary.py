"""A protocol's result for people and for programs."""
import json
from typing import Any

from mmface.functional.operating_point import far_text


def result_json(result: dict) -> str:
    """A result as standard JSON, which knows no infinity: an infinite threshold becomes the string ``'inf'`` or ``'-inf'``."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [plain(item) for item in value]
        return str(value) if value in (float('inf'), float('-inf')) else value

    return json.dumps(plain(result), indent=2, allow_nan=False) + '\n'


def verification_summary(result: dict) -> str:
    """The lines to print for a result of :class:`~mmface.evaluation.TenFoldVerification`."""
    low, high = result['accuracy_ci95']
    val = result['val_at_far']
    lines = [
        ('set', f'{result["set"]}: {result["genuine"]} genuine and {result["impostors"]} impostor pairs'),
        ('accuracy', f'{result["accuracy"]:.2%} +- {result["accuracy_std"]:.2%} (standard deviation over {result["folds"]} folds)'),
        ('', f'standard error {result["accuracy_se"]:.2%}; 95 % interval {low:.2%} to {high:.2%}, pairs taken as independent'),
        ('threshold', f'cosine {result["threshold"]:.4f}, mean of the folds'),
        ('AUC', f'{result["auc"]:.5f}'),
        ('EER', f'{result["eer"]:.2%} at cosine {result["eer_threshold"]:.4f}'),
    ]
    for point in result['tar_at_far']:
        low, high = point['tar_ci95']
        text = f'{point["tar"]:.2%} ({low:.2%} to {high:.2%}), {point["false_accepts"]} of {point["impostors"]} impostors'
        lines.append((f'TAR@FAR={far_text(point["far_target"])}', f'{text}, cosine {point["similarity"]:.4f}{_unresolved(point)}'))
    text = f'{val["strict"]["val"]:.2%} strict, {val["peer"]["val"]:.2%} as facenet interpolates{_unresolved(val)}'
    lines.append((f'VAL@FAR={far_text(val["far_target"])}', text))
    lines.append(('switches', ', '.join(f'{name}={value}' for name, value in result['switches'].items())))
    lines.append(('', f'sha256 {result["protocol_hash"]}'))
    return '\n'.join(f'{name:<24}{text}' for name, text in lines)


def _unresolved(point: dict) -> str:
    return '' if point['resolvable'] else '  [too few impostors for this FAR]'
