"""The HTML report: what is in it, and what a browser makes of it."""
import json
import re
import shutil

import numpy as np
import pytest

from mmface.evaluation import TenFoldVerification
from mmface.structures import PairSet
from mmface.visualization import ReportCase, write_report

BROWSER = next(filter(None, map(shutil.which, ('chromium', 'chromium-browser', 'google-chrome'))), None)
DRIVER = shutil.which('chromedriver')
CELL = re.compile(r'data-key="([^"]+)" data-model="([^"]+)" data-value="([^"]+)"')


def case(model: str, noise: float, set_name: str = 'toy', images: bool = True, seed: int = 0) -> ReportCase:
    rng = np.random.default_rng(seed)
    embeddings = np.repeat(rng.normal(size=(50, 16)), 4, 0) + noise * rng.normal(size=(200, 16))
    embeddings *= rng.uniform(5, 20, (200, 1))
    same, at = np.arange(200) % 2 == 0, np.arange(200)
    other = np.where(same, at // 4 * 4 + (at + 1) % 4, (at + 37) % 200)
    pairs = PairSet(set_name, [f'secret-{i}' for i in at], np.stack([at, other], 1), same, at // 20)
    protocol = TenFoldVerification(fars=(.1, .05, 1e-3))
    similarity = protocol.similarity(pairs, embeddings)
    searched = dict(cmc_searches=30, cmc_hits=[10, 15, 20])
    result = json.loads(json.dumps(protocol(pairs, embeddings) | searched))

    def shown(row: int) -> tuple[np.ndarray, np.ndarray]:
        return np.full((12, 12, 3), row, np.uint8), np.zeros((12, 12, 3), np.uint8)

    return ReportCase(model, result, similarity, same, np.linalg.norm(embeddings, axis=1)[pairs.pairs].min(1),
                      shown if images else None)  # yapf: disable


@pytest.fixture(scope='module')
def cases() -> list[ReportCase]:
    return [case('plain & <simple>', 1.2), case('better', .8), case('better', .9, 'other', seed=1)]


@pytest.fixture(scope='module')
def page(cases, tmp_path_factory):
    return write_report(cases, tmp_path_factory.mktemp('report') / 'deep' / 'report.html')


def cells(text: str, table: str) -> dict[tuple[str, str], float]:
    found = re.search(rf'<table class="metrics" data-set="{table}">.*?</table>', text, re.DOTALL)
    return {(key, model): float(value) for key, model, value in CELL.findall(found.group())}


def test_every_number_of_every_result_is_in_its_table(page, cases):
    text = page.read_text()
    toy, other = cells(text, 'toy'), cells(text, 'other')
    for key in ('accuracy', 'accuracy_std', 'accuracy_se', 'auc', 'eer', 'threshold', 'genuine', 'impostors'):
        assert toy[key, 'plain &amp; &lt;simple&gt;'] == cases[0].result[key]
        assert toy[key, 'better'] == cases[1].result[key]
        assert other[key, 'better'] == cases[2].result[key]
    assert toy['val_at_far/strict/val', 'better'] == cases[1].result['val_at_far']['strict']['val']


def test_every_picture_that_the_data_allow_is_drawn(page, cases, tmp_path):
    text = page.read_text()
    assert text.count('<svg') == (4 + 2 * 2) + (4 + 2)  # four with all models, two a model
    bare = write_report([ReportCase(one.model, one.result) for one in cases], tmp_path / 'bare.html').read_text()
    assert bare.count('<svg') == 2 + 3  # the ranks of each set, and the folds
    assert '<img' not in bare


def test_a_report_to_pass_on_has_no_faces_and_no_report_has_names(page, cases, tmp_path):
    text = page.read_text()
    assert text.count('<img') > 0
    assert 'secret' not in text
    assert '<img' not in write_report(cases, tmp_path / 'shared.html', images=False).read_text()


def test_the_worst_pairs_are_wrong_and_in_order(page, cases):
    one = cases[0]
    text = page.read_text().partition('Worst false accepts')[2].partition('<h3>')[0]
    shown = [(int(n), float(s)) for n, s in re.findall(r'pair (\d+): (-?[\d.]+)', text)]
    impostors = sorted(one.similarity[~one.same], reverse=True)
    wrong = [s for s in impostors if s >= one.threshold][:6]
    np.testing.assert_allclose([s for _, s in shown], wrong, atol=5e-4)
    assert all(not one.same[n] for n, _ in shown)


def test_nothing_is_asked_of_the_network(page):
    text = re.sub(r'xmlns(:\w+)?="[^"]*"', '', page.read_text())
    assert not re.findall(r'https?://|<script|@import|url\((?!#)', text)
    assert set(re.findall(r'(?:href|src)="([^"#][^":]*:)', text)) == {'data:'}


def test_ids_are_used_once(page):
    ids = re.findall(r' id="([^"]+)"', page.read_text())
    assert len(ids) == len(set(ids)) > 0


def test_differences_of_models_stand_under_their_set(cases, tmp_path):
    compared = dict(models=['a', 'b'], set='other', accuracy=-.0125, accuracy_ci95=[-.03, .002], mcnemar=dict(p_value=.0421))
    text = write_report(cases, tmp_path / 'compared.html', comparisons=[compared]).read_text()
    table = text.partition('<h2>other</h2>')[2].partition('class="differences"')[2].partition('</table>')[0]
    assert '<th>b less a</th>' in table
    assert '<td>-1.25%<small>-3.00% to 0.20%</small></td>' in table
    assert '<td>0.0421</td>' in table
    assert text.count('class="differences"') == 1


def test_two_results_of_one_model_on_one_set_are_refused(cases, tmp_path):
    with pytest.raises(ValueError, match='two results of better on toy'):
        write_report([cases[1], cases[1]], tmp_path / 'no.html')
    with pytest.raises(ValueError, match='at least one'):
        write_report([], tmp_path / 'no.html')
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope='module')
def browser():
    webdriver = pytest.importorskip('selenium.webdriver')
    if not BROWSER or not DRIVER:
        pytest.skip('needs chromium and chromedriver: the report is looked at in a real browser')
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for argument in ('--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking'):
        options.add_argument(argument)
    options.set_capability('goog:loggingPrefs', {'browser': 'ALL'})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


def test_a_browser_shows_all_images_and_the_numbers_of_the_results_without_a_complaint(browser, page, cases):
    browser.get(page.as_uri())
    assert browser.get_log('browser') == []
    assert browser.execute_script('return [...document.images].every(i => i.complete && i.naturalWidth > 0) && document.images.length > 0')
    assert browser.execute_script('return [...document.querySelectorAll("svg")].every(s => s.getBoundingClientRect().height > 100)')
    shown = browser.execute_script("""return [...document.querySelectorAll('table[data-set=toy] td[data-model="better"]')].map(
        cell => [cell.dataset.key, cell.firstChild.textContent])""")
    result = cases[1].result
    found = dict(shown)
    assert found['accuracy'] == f'{result["accuracy"]:.2%}'
    assert found['eer_threshold'] == f'{result["eer_threshold"]:.4f}'
    assert found['pairs'] == '200'
    rows = browser.execute_script("""return [...document.querySelectorAll('table.points[data-set=toy][data-model="better"] tbody tr')].map(
        row => [...row.querySelectorAll('td[data-key]')].map(cell => [cell.dataset.key, cell.textContent]))""")
    for point, row in zip(result['tar_at_far'], rows, strict=True):
        text = dict(row)
        assert float(text['far_target']) == point['far_target']
        assert text['tar'] == f'{point["tar"]:.2%}'
        assert text['similarity'] == f'{point["similarity"]:.4f}'
        assert int(text['false_accepts']) == point['false_accepts']


def test_it_fits_a_phone_and_the_dark(browser, page):
    browser.execute_cdp_cmd('Emulation.setDeviceMetricsOverride', dict(width=390, height=800, deviceScaleFactor=1, mobile=True))
    browser.execute_cdp_cmd('Emulation.setEmulatedMedia', dict(features=[dict(name='prefers-color-scheme', value='dark')]))
    try:
        browser.get(page.as_uri())
        assert browser.execute_script('return document.documentElement.scrollWidth') <= 390
        ink, paper = (sum(map(int, re.findall(r'\d+', browser.execute_script(
            f'return getComputedStyle(document.querySelector("{where}")).{what}'))[:3]))
            for where, what in (('figure svg text', 'fill'), ('body', 'backgroundColor')))  # yapf: disable
        assert paper < 150 < 600 < ink
    finally:
        browser.execute_cdp_cmd('Emulation.clearDeviceMetricsOverride', {})
        browser.execute_cdp_cmd('Emulation.setEmulatedMedia', dict(features=[]))


def test_what_was_not_measured_is_said_and_factors_are_no_percentages(cases, tmp_path):
    one = cases[0]
    groups = dict(fmr_worst_over_best=2.5, fmr_worst_over_best_ci95=[1.5, float('inf')], by_group=dict(north=dict(fmr=None)))
    for result, says in ((one.result, '>not measured<'), (one.result | dict(groups=groups), '>2.50 times<small>1.50 times to inf times<')):
        assert says in write_report([ReportCase(one.model, result)], tmp_path / 'r.html').read_text()
