"""The text that goes with published weights."""
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from string import Template

from .manifest import UNKNOWN, Manifest
from .training_log import TrainingLog

_TEMPLATE = Path(__file__).parent / 'templates/model_card.md'
NOT_MEASURED = 'not measured'


@dataclass(frozen=True)
class ModelCard:
    """What a card says that the manifest does not. What nobody stated is printed as such, for a person to fill in.

    Attributes:
        name: of the model.
        summary: one or two sentences.
        parameters: of the network without its head.
        dim: of the embedding.
        log: how the training ended.
        results: what ``tools/evaluate.py --out`` wrote about it: its ``results``.
        command: which gave these results.
        groups: error rates by group, in words.
        intended: what it is for.
        has_head: whether the head is still in the file.
    """
    name: str
    parameters: int
    dim: int
    summary: str = 'A face-recognition network: aligned face crops in, embeddings out.'
    log: TrainingLog | None = None
    results: Sequence[Mapping] = field(default_factory=tuple)
    command: str | None = None
    groups: str = NOT_MEASURED
    intended: str = ('Comparing faces of people who have agreed to it, where a person checks what follows from the answer; '
                     'research on such networks.')
    has_head: bool = False

    def text(self, manifest: Manifest, weights: Path) -> str:
        """The card in Markdown.

        Args:
            manifest: of the published pair.
            weights: its file.
        """
        eats, source = manifest.input, manifest.source
        return Template(_TEMPLATE.read_text(encoding='utf-8')).substitute(
            name=self.name, summary=self.summary, file=weights.name, sha256=manifest.weights_sha256, dim=self.dim,
            takes=f'{eats["color"]} crops of {eats["size"][0]} x {eats["size"][1]} (height x width), aligned to the template '
                  f'`{eats["template"]}`, (x - {list(eats["mean"])}) / {list(eats["std"])}',
            parameters=f'{self.parameters:,}', created_by=manifest.created_by,
            licence_code=manifest.licence['code'], licence_weights=manifest.licence['weights'], licence_data=manifest.licence['data'],
            config=source.get('config', UNKNOWN), config_sha256=source.get('config_sha256', UNKNOWN), seed=source.get('seed', UNKNOWN),
            training_set=manifest.training_set, checkpoint_sha256=source.get('sha256', UNKNOWN), log=self._log(),
            data_sha256=f'SHA-256 `{source["data_sha256"]}`' if 'data_sha256' in source else 'not recorded',
            results=self._results(), groups=self.groups, intended=self.intended,
            head=f'{"still in the file" if self.has_head else "removed"} ({manifest.num_classes or "an unknown number of"} classes): its '
                 'prototypes are templates of the people in the training set')

    def _log(self) -> str:
        if self.log is None:
            return 'not recorded'
        found = ', '.join(f'{name} {value:.4f}' for name, value in self.log.validation.items())
        return f'{self.log.steps:,} iterations, last loss {self.log.loss:.4f}' + (f'; last validation: {found}' if found else '')

    def _results(self) -> str:
        if not self.results:
            return f'{NOT_MEASURED.capitalize()}.'
        lines = ['| set | protocol | accuracy ± standard error | AUC | EER |', '|---|---|---|---|---|']
        lines += [
            f'| {result["set"]} | {_protocol(result)} | '
            f'{100 * result["accuracy"]:.2f} ± {100 * result["accuracy_se"]:.2f} % | {result["auc"]:.4f} | {100 * result["eer"]:.2f} % |'
            for result in self.results if 'accuracy' in result
        ]
        return '\n'.join([*lines, *(['', '```bash', self.command, '```'] if self.command else [])])


def _protocol(result: Mapping) -> str:
    switches = result.get('switches', {})
    shown = [f'{name} {switches[name]}' for name in ('rule', 'flip') if name in switches]
    return ', '.join([str(switches.get('protocol', 'unknown')).replace('_', ' '), f'{result["pairs"]:,} pairs', *shown])
