"""A catalog of one's own: the file of docs/catalog.md, used as that page says."""

import json
import pathlib
import re

import support
from support import CliTest

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "catalog.md"


class OwnCatalog(CliTest):
    def setUp(self):
        super().setUp()
        self.site = re.search(r"```toml\n(# site.toml\n.*?)```", PAGE.read_text(), re.DOTALL)[1]
        self.write(self.site, "site.toml")

    def test_commands_take_it(self):
        """From a first scenario to a results file that needs no other."""
        self.output("init", "--catalog", "site.toml", "--accelerator", "chip-x", "--workload", "llama3-8b", "--gpus", "16", "--out", "first.toml")
        self.assertIn('catalog = ["site.toml"]', (self.folder / "first.toml").read_text())
        self.output("validate", "first.toml")
        predicted = json.loads(self.output("predict", "first.toml", "--json"))
        (self.folder / "site.toml").rename(self.folder / "elsewhere.toml")
        self.assertIn("site.toml is not a file", self.refusal("validate", "first.toml"))
        given = (self.folder / "first.toml").read_text().replace('catalog = ["site.toml"]', "")
        self.write(given, "second.toml")
        self.assertIn('"chip-x" is not one of', self.refusal("validate", "second.toml"))
        again = json.loads(self.output("predict", "second.toml", "--catalog", "elsewhere.toml", "--json"))
        self.assertEqual(again["estimates"]["step_time_p99"], predicted["estimates"]["step_time_p99"])

    def test_instances_of_ones_own(self):
        self.output("init", "--catalog", "site.toml", "--instance", "our-node", "--workload", "llama3-8b", "--gpus", "8", "--out", "ours.toml")
        text = (self.folder / "ours.toml").read_text()
        self.assertIn("oversubscription = 4                # the 4 GPUs of a node share 100 Gb/s\n", text)
        self.assertIn('gpu_price = "3.50 USD/h"', text)
        self.output("validate", "ours.toml")
        self.assertRegex(self.output("init", "--catalog", "site.toml", "--list", "accelerators"), r"(?m)^chip-x .* yours$")
        self.write(self.site.replace('"eth-100g"', '"wet-string"'), "site.toml")
        self.assertIn('network_link = "wet-string" is not one of', self.refusal("init", "--catalog", "site.toml", "--list", "instances"))

    def test_results_contain_it(self):
        self.scenario(accelerator='"chip-x"')
        self.output("search", "study.toml", "--catalog", "site.toml")
        (self.folder / "site.toml").unlink()
        self.assertIn("chip-x", self.output("report", "study.h5"))
        self.output("predict", "study.h5")
        self.assertIn("--catalog has no effect", self.refusal("predict", "study.h5", "--catalog", "site.toml"))
        # Another search of the same scenario with other entries is another study.
        self.write(self.site.replace('"6 TB/s"', '"5 TB/s"'), "site.toml")
        self.output("search", "study.toml", "--catalog", "site.toml", "--out", "slower.h5")
        self.assertIn('memory_bandwidth = "5 TB/s"', self.output("compare", "study.h5", "slower.h5"))
        self.assertIn("entries of your own catalog", self.output("report", "study.h5"))
        with support.h5py.File(self.folder / "study.h5") as one, support.h5py.File(self.folder / "slower.h5") as other:
            self.assertNotEqual(one.attrs["scenario_toml"], other.attrs["scenario_toml"])

    def test_levers_are_checked_where_they_are_read(self):
        self.scenario()
        for levers, complaint in (("{ foo = [1] }", "foo"), ('{ dispatch = ["magic"] }', "magic"), ('{ recompute = "full" }', "recompute")):
            with self.subTest(levers):
                self.write(f'[software.ours]\nabout = "ours"\nlevers = {levers}\n'
                           'releases = [{ name = "1", constants = "megatron-core", year = 2026 }]\n', "wrong.toml")
                self.assertRegex(self.refusal("validate", "study.toml", "--catalog", "wrong.toml"), f"wrong.toml:3: .*{complaint}")

    def test_files_that_are_not_there(self):
        self.scenario()
        self.assertRegex(self.refusal("validate", "study.toml", "--catalog", "none.toml"), "--catalog none.toml: does not exist")


if __name__ == "__main__":
    support.main()
