"""Runs docs/notebook.ipynb, and the examples of docs/notebook.md, with the module of a build.

usage: notebook_test.py SOURCES MODULE_FOLDER [--write]    --write: keep the outputs in the notebook
Exit code 77: a module that they need is missing.
"""

import os
import pathlib
import re
import sys
import tempfile

sources, module = (pathlib.Path(argument).absolute() for argument in sys.argv[1:3])
os.environ["PYTHONPATH"] = str(module)
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # the kernel warns of frozen modules
try:
    import matplotlib
    import nbclient
    import nbformat
    import optuna  # noqa: F401 (the notebook does)
    import pandas  # noqa: F401
except ImportError as missing:
    print(f"skipped: {missing}; bash jobs/install.sh --python")
    sys.exit(77)


def run_notebook(write):
    path = sources / "docs" / "notebook.ipynb"
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": folder}}).execute()
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            if output.get("name") == "stderr" and "prismopt" in output["text"]:
                raise SystemExit(f"FAILED: a cell of {path.name} warns: {output['text']}")
        if cell.cell_type == "code":  # other modules warn of what this machine has
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
            cell.metadata.pop("execution", None)
    if write:
        notebook.metadata.language_info = {"name": "python"}
        nbformat.write(notebook, path)
    return sum(cell.cell_type == "code" for cell in notebook.cells)


def run_examples():
    """The blocks of Python in notebook.md, in order, as one program beside the small scenario."""
    blocks = re.findall(r"```python\n(.*?)```", (sources / "docs" / "notebook.md").read_text(), re.DOTALL)
    sys.path.insert(0, str(module))
    matplotlib.use("Agg")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        pathlib.Path("small.toml").write_text((sources / "jobs" / "scenarios" / "small.toml").read_text())
        names = {}
        for block in blocks:
            exec(compile(block, "notebook.md", "exec"), names)
        os.chdir(sources)
    return len(blocks)


cells = run_notebook("--write" in sys.argv)
examples = run_examples()
print(f"{cells} cells of docs/notebook.ipynb and {examples} examples of docs/notebook.md ran")
