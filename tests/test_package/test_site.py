"""The site: what it has pages for. ``make docs`` builds it, with warnings as errors, in CI."""
import ast
import re


def test_every_package_with_public_names_has_its_page(root):
    config = ast.parse((root / 'docs/conf.py').read_text())
    pages = next(ast.literal_eval(node.value) for node in config.body if isinstance(node, ast.Assign) and node.targets[0].id == 'PACKAGES')
    public = {'mmface', 'mmface.registry'}
    for file in (root / 'mmface').glob('*/__init__.py'):
        if re.search('^__all__ =', file.read_text(), re.MULTILINE):
            public.add(f'mmface.{file.parent.name}')
    assert set(pages) == public - {'mmface.utils'}  # what every part may use is nobody's interface


def test_every_document_is_reached_from_the_index(root, files):
    """The last part of the index takes what none of the others names."""
    index = (root / 'docs/index.md').read_text()
    patterns = re.findall(r'^[\w/*]+$', index, re.MULTILINE)
    assert {'*', 'losses/*', 'api/index'} <= set(patterns)
    named = [pattern for pattern in patterns if '*' not in pattern and pattern != 'api/index']
    assert [name for name in named if not (root / f'docs/{name}.md').is_file()] == []
    docs = root / 'docs'
    assert {file.parent for file in files if file.suffix == '.md' and docs in file.parents} == {docs, docs / 'losses'}


def test_links_between_documents_lead_somewhere(root, files):
    broken = [f'{file.relative_to(root)}: {target}' for file in files if file.suffix == '.md' for target in links(file.read_text())
              if not (file.parent / target).exists()]  # yapf: disable
    assert broken == []


def links(text: str) -> list[str]:
    """Targets within the project, without the place in the file."""
    return [target for target in re.findall(r'\]\(([^)#\s]+)(?:#[^)]*)?\)', re.sub(r'```.*?```', '', text, flags=re.DOTALL))
            if not re.match(r'[a-z]+:', target)]  # yapf: disable
