"""Names in unnamed namespaces differ within a folder.

PRISMOPT_UNITY_BUILD compiles the files of a folder as one (cmake/unity.cmake). Two definitions of a name are then an error at best; two
overloads of it compile, and a file may call the other's. Not checked: enumerators of enums without `class`, further names of one
declaration, and overloads that a header of the folder declares.
"""

import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LITERALS = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
DIGITS = re.compile(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])")  # 10'000
BLOCK = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)  # the ends are clang-format's
TYPE = re.compile(r"\b(?:struct|class|union|enum(?: class)?)\s+(?:alignas\([^)]*\)\s*)?(\w+)")
ALIAS = re.compile(r"using (\w+) =")
FUNCTION = re.compile(r"(?<![\w:])(\w+)\s*$")
VARIABLE = re.compile(r"(\w+)\s*(?:\[[^\]]*\]\s*)*(?:=.*)?$", re.DOTALL)


def without(text, opening, closing):
    """The text without what stands between such brackets, nested ones too."""
    kept, depth = [], 0
    for character in text:
        depth += character == opening
        if depth == 0:
            kept.append(character)
        depth -= character == closing and depth > 0
    return "".join(kept)


def declarations(block):
    """The heads of what is declared in a block: up to the body or the end."""
    kept = without(block, "{", "}")
    heads = re.split(r";|\n(?=\S)", kept)
    return [head.strip() for head in heads if head.strip() and not head.lstrip().startswith(("#", ":", "}", ")"))]


def name_of(head):
    """The name that a head declares; nothing if it declares none of this file: members, using declarations, macros."""
    if "operator" in head:
        return None
    head = re.sub(r"\[\[.*?\]\]", "", head).replace("template", "", 1) if head.startswith(("template", "[[")) else head
    head = without(head, "<", ">").strip()
    if alias := ALIAS.match(head):
        return alias[1]
    if head.startswith(("using ", "static_assert", "TEST", "INSTANTIATE", "namespace", "extern")):
        return None
    if found := TYPE.match(head):
        return found[1]
    before, call, _ = head.partition("(")
    if call and "=" not in before:
        function = FUNCTION.search(before)
        return function[1] if function and " " in before.strip() else None
    variable = VARIABLE.search(before.split("=")[0].strip())
    return variable[1] if variable and " " in before.strip() else None


def names_in(path):
    blocks = BLOCK.findall(path.read_text(encoding="utf-8"))
    heads = [head for block in blocks for head in declarations(LITERALS.sub('""', DIGITS.sub("", block)))]
    return {name: head for head in heads if (name := name_of(head)) and not name.isupper()}


def main():
    separate = set()
    for lists in ROOT.glob("*/CMakeLists.txt"):
        for folders in re.findall(r"unite_folders\([^)]*SEPARATE ([^)]*)\)", lists.read_text(encoding="utf-8")):
            separate.update(lists.parent / folder for folder in folders.split())
    names, shared = 0, []
    for root in ("model", "search", "io", "optimizer", "tests/model", "tests/search", "tests/io", "tests/optimizer"):
        folders = {path.parent for path in (ROOT / root).rglob("*.cpp")} - separate
        for folder in sorted(folders):
            files = collections.defaultdict(list)
            for path in sorted(folder.glob("*.cpp")):
                for name, head in names_in(path).items():
                    files[name].append((path.name, head))
            names += len(files)
            shared += [f"{folder.relative_to(ROOT)}: {name} in {', '.join(file for file, _ in places)}" for name, places in files.items()
                       if len(places) > 1 and not all(head == places[0][1] and head.startswith("using ") for _, head in places)]
    if shared:
        sys.exit("give these different names, or declare them once in a header:\n" + "\n".join(shared))
    print(f"{names} names in unnamed namespaces differ within their folders")


if __name__ == "__main__":
    main()
