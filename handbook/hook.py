"""What mkdocs calls while it builds the site (`hooks` in mkdocs.yml).

A page asks for a part that is made from the code by what stands there in the repository instead:
`<!-- generated: settings -->`, a sentence for who reads it there, and `<!-- end -->`."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from handbook import classes, commands, links, reference, rules

HOUSE = Path(__file__).parents[1]
MADE = {
    "settings": reference.page,
    "classes": classes.page,
    "commands": commands.page,
    "policies": rules.page,
}
# Files of the repository that are pages of the site, too, and where.
ALSO = {
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "examples/submit_job.py": "examples/submit_job.py",
    **{
        f"examples/bridge/{file.name}": f"examples/bridge/{file.name}" for file in (HOUSE / "examples/bridge").iterdir()
    },
    "lab/plugins/README.md": "lab-plugins.md",
    **{f"policies/rules/{file.name}": f"policies/{file.name}" for file in (HOUSE / "policies/rules").glob("*.md")},
}
_PLACE = re.compile(r"^<!-- generated: (\w+) -->$.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for source, served in ALSO.items():
        files.append(File.generated(config, served, abs_src_path=str(HOUSE / source)))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    served = {f"docs/{file.src_uri}": file.src_uri for file in files} | ALSO | {"README.md": "index.md"}
    source = next((each for each, uri in ALSO.items() if uri == page.file.src_uri), f"docs/{page.file.src_uri}")
    markdown = _PLACE.sub(_made, markdown)
    return links.with_settings(links.moved(markdown, source, served), page.file.src_uri)


def _made(place: re.Match[str]) -> str:
    if place[1] not in MADE:
        raise PluginError(f"Nothing makes `{place[1]}`: there is {', '.join(MADE)}.")
    return MADE[place[1]]()
