"""What named_tests.py finds in sources and pages."""

import pathlib
import tempfile
import unittest
from unittest import mock

import named_tests

SOURCE = """TEST(Program, IsShort) {}
TEST_P(Sampler,
       Agrees) {}
INSTANTIATE_TEST_SUITE_P(Some, Sampler, testing::Values(1));
"""


class NamedTests(unittest.TestCase):
    def test_instantiations_have_names_of_their_own(self):
        self.assertEqual(named_tests.tests([SOURCE]), {"Program.IsShort", "Sampler.Agrees", "Some/Sampler.Agrees"})

    def test_names_without_a_test_are_found(self):
        known = named_tests.tests([SOURCE])
        names = ["Program.IsShort", "Program.Is*", "Some/Sampler.*", "Sampler.Agree", "Other.*", "Some/Program.*"]
        self.assertEqual(named_tests.missing(list(enumerate(names)), known), [(3, "Sampler.Agree"), (4, "Other.*"), (5, "Some/Program.*")])

    def test_pages_name_tests_between_backquotes_and_lists_in_filters(self):
        with tempfile.TemporaryDirectory() as folder, mock.patch.object(named_tests, "ROOT", pathlib.Path(folder)):
            for name, text in (("page.md", "Tests: `Program.IsShort`,\n`Some/Sampler.*`; `scenario.toml`, `Scenario.read`, Other.Test.\n"),
                               ("CMakeLists.txt", "add_test(NAME a COMMAND b\n  --gtest_filter=Program.*:Sampler.Agrees)\n")):
                (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
            self.assertEqual(list(named_tests.names_in(pathlib.Path(folder) / "page.md")),
                             [("page.md:1", "Program.IsShort"), ("page.md:2", "Some/Sampler.*")])
            self.assertEqual(list(named_tests.names_in(pathlib.Path(folder) / "CMakeLists.txt")),
                             [("CMakeLists.txt:2", "Program.*"), ("CMakeLists.txt:2", "Sampler.Agrees")])


if __name__ == "__main__":
    unittest.main()
