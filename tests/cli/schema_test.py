"""The JSON Schema of scenarios knows the keys and the names that the reader knows."""

import json
import pathlib
import re
import tomllib

import support
from support import CliTest

try:
    import jsonschema
except ImportError:
    jsonschema = None

SLIP = "qqzzqq"
# One place for each table of a scenario: the path in the schema, and how to put a key there.
TABLES = {
    "": lambda text: f"{SLIP} = 1\n" + text,
    "workload": lambda text: text.replace("[workload]", f"[workload]\n{SLIP} = 1"),
    "workload/experts": lambda text: text.replace("[workload]", f"[workload]\nexperts = {{ count = 8, active = 2, feed_forward = 64, {SLIP} = 1 }}"),
    "workload/latent": lambda text: text.replace("[workload]", f"[workload]\nlatent = {{ query_rank = 8, key_value_rank = 8, rotary = 8, plain = 8, value = 8, {SLIP} = 1 }}"),
    "workload/optimizer": lambda text: text.replace("[workload]", f"[workload]\noptimizer = {{ {SLIP} = 1 }}"),
    "workload/prediction": lambda text: text.replace("[workload]", f'[workload]\nprediction = {{ layer = "dense", {SLIP} = 1 }}'),
    "phase/items": lambda text: text.replace("[[phase]]", f"[[phase]]\n{SLIP} = 1"),
    "cluster": lambda text: text.replace("[cluster]", f"[cluster]\n{SLIP} = 1"),
    "cluster/accelerator_override": lambda text: text.replace("[cluster]", f"[cluster]\naccelerator_override = {{ {SLIP} = 1 }}"),
    "cluster/accelerator_override/efficiency": lambda text: text.replace("[cluster]", f"[cluster]\naccelerator_override = {{ efficiency = {{ {SLIP} = 1 }} }}"),
    "cluster/tier/items": lambda text: text.replace("[[cluster.tier]]", f"[[cluster.tier]]\n{SLIP} = 1", 1),
    "cluster/slow_nodes/items": lambda text: text.replace("[cluster]", f"[cluster]\nslow_nodes = [{{ node = 1, factor = 1.2, {SLIP} = 1 }}]"),
    "memory": lambda text: text.replace("[memory]", f"[memory]\n{SLIP} = 1"),
    "variability": lambda text: text.replace("[variability]", f"[variability]\n{SLIP} = 1"),
    "variability/residual": lambda text: text.replace("[variability]", f"[variability]\nresidual = {{ {SLIP} = 1 }}"),
    "reliability": lambda text: text.replace("[reliability]", f"[reliability]\n{SLIP} = 1"),
    "reliability/drift": lambda text: text.replace("[reliability]", f'[reliability]\ndrift = {{ cv = 0.01, time = "1 day", {SLIP} = 1 }}'),
    "power": lambda text: text + f"\n[power]\n{SLIP} = 1\n",
    "space": lambda text: text.replace("[space]", f"[space]\n{SLIP} = 1"),
    "objectives": lambda text: text.replace("[objectives]", f"[objectives]\n{SLIP} = 1"),
    "search": lambda text: text.replace("[search]", f"[search]\n{SLIP} = 1"),
    "search/confirm": lambda text: re.sub(r"(?m)^confirm = \{", f"confirm = {{ {SLIP} = 1,", text),
}


class Schema(CliTest):
    def setUp(self):
        super().setUp()
        self.schema = json.loads(self.output("init", "--schema"))
        self.small = pathlib.Path(support.SMALL).read_text()

    def resolved(self, schema):
        """The schema itself, behind its reference."""
        parts = schema.get("allOf") or schema.get("anyOf", [])  # of several kinds of tables the first, which is the plain one
        reference = schema.get("$ref") or next((part["$ref"] for part in parts), None)
        return self.schema["definitions"][reference.rsplit("/", 1)[1]] if reference else schema

    def table_at(self, path):
        at = self.schema
        for name in filter(None, path.split("/")):
            at = self.resolved(at["items"] if name == "items" else at["properties"][name])
        return at

    def test_keys_are_those_of_the_reader(self):
        for path, slip in TABLES.items():
            text = slip(self.small)
            self.assertIn(SLIP, text, path)
            message = self.refusal("validate", self.write(text))
            known = re.search(r"\(known here: (.*)\); remove", message)
            self.assertIsNotNone(known, f"{path}: {message}")
            self.assertEqual(set(self.resolved(self.table_at(path))["properties"]), set(known[1].split(", ")), path)

    def test_names_are_those_of_the_reader(self):
        """An unknown name is answered with all that are known."""
        for key, path in (("accelerator", "cluster"), ("profile", "variability"), ("strategy", "search"), ("minimise", "objectives"),
                          ("schedule", "space"), ("recompute", "space"), ("sharding", "space"), ("split", "space"), ("order", "space")):
            place = self.table_at(path)["properties"][key]
            place_of_one = place["items"] if "items" in place else place
            names = place_of_one["enum"] if "enum" in place_of_one else place_of_one["anyOf"][0]["enum"]
            value = f'["{SLIP}"]' if "items" in place else f'"{SLIP}"'
            text, count = re.subn(rf"(?m)^{key} = .*$", f"{key} = {value}", self.small)
            if count == 0:
                text = self.small.replace(f"[{path}]", f"[{path}]\n{key} = {value}")
            message = self.refusal("validate", self.write(text))
            self.assertEqual(re.search(r"is not one of (.*?) \(", message)[1].split(", "), names, message)

    def test_shipped_scenarios_pass_and_slips_do_not(self):
        if jsonschema is None:
            self.skipTest("install python3-jsonschema")
        checker = jsonschema.Draft7Validator(self.schema)
        jsonschema.Draft7Validator.check_schema(self.schema)
        for path in sorted(pathlib.Path(support.SMALL).parent.rglob("*.toml")):
            errors = [f"{path.name}: {error.json_path}: {error.message}" for error in checker.iter_errors(tomllib.loads(path.read_text()))]
            self.assertEqual(errors, [])
        for path, slip in TABLES.items():
            self.assertTrue(list(checker.iter_errors(tomllib.loads(slip(self.small)))), path)


if __name__ == "__main__":
    support.main()
