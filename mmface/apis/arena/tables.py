"""Tables for people, and the same for programs."""
import math
from collections.abc import Sequence
from dataclasses import asdict

from .difference import CONFIDENCE, POWER, Estimate
from .report import Line, Reporter, hash_of_logs

_HEADER = '| | mean, % | difference, points | detectable | verdict | seeds | s |\n|---|---:|---:|---:|---|---:|---:|'


def facts_of(reporter: Reporter, lines: Sequence[Line], experiment: str) -> dict:
    """Where the numbers come from, in plain values."""
    results = [result for line in lines for result in line.trainings]
    data, setting = reporter.data, reporter.setting
    return dict(
        experiment=experiment, data=data.name, data_sha256=data.sha256, train_people=data.people, train_images=data.images,
        test_images=len(data.listed.paths), test_people=len(set(data.persons.tolist())), genuine=reporter.examiner.genuine,
        impostors=reporter.examiner.impostors, listed_pairs=len(data.listed), epochs=setting.epochs[data.name], batch=setting.batch,
        seeds=list(setting.seeds), replicates=setting.replicates, confidence=CONFIDENCE, power=POWER, logs_sha256=hash_of_logs(lines),
        **{key: sorted({str(result[key]) for result in results}) for key in ('machine', 'torch', 'mmface', 'threads')})


def to_json(facts: dict, lines: Sequence[Line]) -> dict:
    """Everything, in plain values; NaN is None."""
    rows = [dict(asdict(line), means=_estimates(line.means), differences=_estimates(line.differences)) for line in lines]
    return {key: _plain(value) for key, value in (*facts.items(), ('rows', rows))}


def to_markdown(facts: dict, lines: Sequence[Line], measures: Sequence[str]) -> str:
    """A table a measure, and where the numbers come from."""
    parts = [f'# {facts["experiment"]}, {facts["data"]}\n']
    for measure in measures:
        parts.append(f'## {measure}\n\n{_HEADER}')
        parts += [_row(line, measure) for line in lines]
        parts.append('')
    parts += [_detectable(lines, measures), _source(facts), _trainings(lines)]
    return '\n'.join(parts)


def _row(line: Line, measure: str) -> str:
    mean, difference = line.means.get(measure), line.differences.get(measure)
    verdict = line.status if line.status != 'finished' else ''
    cells = [
        line.label,
        _percent(mean) if mean else '',
        _percent(difference, sign='+') if difference else '',
        f'{100 * difference.detectable:.1f}' if difference and line.compared > 1 else '',
        ', '.join(filter(None, [difference.verdict if difference else '', verdict])),
        f'{line.compared} of {line.seeds}' if difference and line.compared < line.seeds else str(line.seeds),
        '' if math.isnan(line.seconds) else f'{line.seconds:.0f}',
    ]
    return f'| {" | ".join(cells)} |'


def _percent(estimate: Estimate, sign: str = '') -> str:
    low, high = (f'{100 * end:{sign}.1f}' for end in estimate.interval)
    return f'{100 * estimate.value:{sign}.1f} [{low}, {high}]'


def _detectable(lines: Sequence[Line], measures: Sequence[str]) -> str:
    largest = {measure: max((line.differences[measure].detectable for line in lines if line.compared > 1), default=None)
               for measure in measures}
    words = ', '.join(f'{100 * size:.1f} points of {measure}' for measure, size in largest.items() if size is not None)
    return (f'Differences that would have been found in about four of five repetitions, in every row: {words}.\n' if words else
            'Nothing was compared.\n')


def _source(facts: dict) -> str:
    words = {key: ' or '.join(facts[key]) or 'unknown' for key in ('machine', 'torch', 'mmface')}
    sentences = (
        f'Brackets: {facts["confidence"]:.0%} intervals for other people ({facts["replicates"]} drawn sets, the same for all networks)',
        f'and other seeds ({", ".join(map(str, facts["seeds"]))}), each by itself: of twenty ties one will look like a difference.',
        f'Trained on {facts["train_images"]:,} images of {facts["train_people"]:,} people, {facts["epochs"]} epochs of batches of',
        f'{facts["batch"]}; tested on {facts["test_images"]:,} images of {facts["test_people"]:,} others: {facts["genuine"]:,} genuine and',
        f'{facts["impostors"]:,} impostor pairs, accuracy on {facts["listed_pairs"]} pairs. Seconds are of one training on one thread',
        f'({words["machine"]}). torch {words["torch"]}, mmface {words["mmface"]}; data `{facts["data_sha256"][:12]}`, logs',
        f'`{facts["logs_sha256"][:12]}`.\n')
    return ' '.join(sentences)


def _trainings(lines: Sequence[Line]) -> str:
    rows = {result['identity']: f'| `{result["identity"][:12]}` | {_recipe(result["training"])} | {result["training"]["seed"]} | '
                                f'{result["status"]} after {result["iterations"]} iterations | '
                                f'{", ".join(f"`{sha[:12]}`" for sha in result["logs"].values())} |'
            for line in lines for result in line.trainings}  # yapf: disable
    return '\n'.join(['| training | recipe | seed | | logs |', '|---|---|---:|---|---|', *rows.values(), ''])


def _recipe(training: dict) -> str:
    settings = {key: value for key, value in training['loss'].items() if key != 'type'} | {
        key: value for key, value in training.items() if key not in ('loss', 'seed')}  # yapf: disable
    return f'{training["loss"]["type"]}, {", ".join(f"{key} {value}" for key, value in settings.items())}'


def _estimates(found: dict[str, Estimate]) -> dict:
    return {measure: dict(estimate._asdict(), verdict=estimate.verdict) for measure, estimate in found.items()}


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value
