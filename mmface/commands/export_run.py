"""What the command ``export`` does once it knows what is wanted."""
import argparse
import dataclasses

from mmface.apis.export_model import export_model
from mmface.apis.onnx_session import PROVIDERS
from mmface.export import PRECISIONS, ExportReport, GraphOptions, Licence, Precision
from mmface.zoo import model_index

from .configs import find_config


def export(args: argparse.Namespace) -> ExportReport:
    """Exports the network."""
    return export_model(
        args.model if args.checkpoint is None or args.model in model_index() else find_config(args.model),
        args.checkpoint,
        args.output,
        photos=args.images,
        opset=args.opset,
        licence=Licence(args.licence_code, args.licence_weights, args.licence_data),
        training_set=args.training_set,
        thresholds=args.thresholds,
        options=GraphOptions(args.layout, not args.no_preprocessing, args.flip, args.normalize, args.norm),
        precision=precision(args),
        gate_set=args.gate_set,
        gate_images=args.gate_images,
        max_drop=args.gate_max_drop,
        provider=PROVIDERS[args.provider][0],
        accept_unverified=args.accept_unverified,
        cfg_options=args.cfg_options)


def precision(args: argparse.Namespace) -> Precision:
    """The number format with the limits asked for."""
    limits = dict(max_relative_difference=args.gate_max_difference, min_cosine=args.gate_min_cosine)
    return dataclasses.replace(PRECISIONS[args.precision], **{name: value for name, value in limits.items() if value is not None})


def measured(gate: dict) -> list[str]:
    """The lines about the end metric."""
    found = gate['end_metric']
    if found is None:
        return ['gate     no set of pairs was given (--gate-set): accuracy before and after was not measured']
    lines = [f'gate     {found["set"]}: {found["genuine"]} genuine and {found["impostors"]} impostor pairs']
    for name in ('accuracy', 'tar'):
        if name in found:
            before_after = f'{found[name]["before"]:.2%} before, {found[name]["after"]:.2%} after'
            lines.append(f'{name:<9}{before_after} ({found[name]["only_before"]} pairs lost, {found[name]["only_after"]} won)')
    return lines


def describe(report: ExportReport) -> str:
    """What was written, for people to read."""
    record = report.metadata
    takes, gives = record['input'], record['output']
    height, width = takes['size']
    extras = (', of image and mirror image' if gives['flip'] else '') + (', and norm [B]' if gives['norm'] else '')
    return '\n'.join([
        *(f'check    {check}' for check in report.checks),
        *measured(record['gate']),
        f'takes    {takes["dtype"]} {takes["color"]} {takes["layout"]}, {height} x {width}, aligned to the template {takes["template"]!r}',
        f'{"inside" if record["preprocessing_in_graph"] else "outside":<9}(x - {takes["mean"]}) / {takes["std"]}',
        f'gives    {gives["embedding"]} [B, {gives["dim"]}], {"normalised" if gives["normalized"] else "not normalised"}{extras}',
        f'numbers  {record["precision"]}',
        f'licence  {Licence(**record["licence"])}',
        f'trained  on {record["training_set"]}',
        f'model    {record["model_id"]}',
        f'written  {report.path}, opset {report.opset}, {report.path.stat().st_size:,} bytes, SHA-256 {report.sha256}',
    ])
