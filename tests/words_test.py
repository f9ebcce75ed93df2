"""What words.py reads of pages and sources."""

import unittest

import words


def kinds(file, text):
    entries = words.source_texts(text) if file.endswith(".cpp") else words.page_texts(text)
    return [(kind, line, found.strip()) for kind, line, found in entries]


class Words(unittest.TestCase):
    def test_pages_are_read_without_code(self):
        page = "A [link](law.md) and `law`.\n\n    law\n```\nlaw\n```\nText.\n"
        self.assertEqual([found for _, _, found in kinds("page.md", page) if found], ["A [link] and ``.", "Text."])

    def test_names_are_read_as_words(self):
        source = 'int safe_high = GapLaw::best2nd;  // a note\nauto t = "tells \\"it\\"";\n'
        self.assertEqual(kinds("source.cpp", source),
                         [("name", 1, "int"), ("name", 1, "safe high"), ("name", 1, "gap law"), ("name", 1, "best2nd"),
                          ("comment", 1, "// a note"), ("name", 2, "auto"), ("name", 2, "t"), ("literal", 2, '"tells \\"it\\""')])

    def test_digits_with_separators_are_no_characters(self):
        self.assertEqual(kinds("source.cpp", "f(10'000, 'x', 20'000); // law"), [("name", 1, "f"), ("comment", 1, "// law")])

    def test_comments_and_literals_of_scripts_are_read(self):
        python = 'law = 1  # a law\nf(f"x {law}", """A law.\nIts \'law\'.""")\n'
        self.assertEqual([found for found in words.python_texts(python) if "law" in found[2]][-2:],
                         [("literal", 2, '"""A law.'), ("literal", 3, "Its 'law'.\"\"\"")])
        self.assertEqual(next(words.python_texts(python)), ("comment", 1, "# a law"))
        script = "const law = 'a law';  // law\n/* one\n   law */ f(`a ${law}\n b`);\n"
        self.assertEqual(list(words.javascript_texts(script)),
                         [("literal", 1, "'a law'"), ("comment", 1, "// law"), ("comment", 2, "/* one"), ("comment", 3, "   law */"),
                          ("literal", 3, "`a ${law}"), ("literal", 4, " b`")])

    def test_each_rule_has_a_scope_and_a_replacement(self):
        for scope, pattern, instead in words.rules():
            self.assertIn(scope, words.SCOPES)
            self.assertTrue(instead, pattern.pattern)


if __name__ == "__main__":
    unittest.main()
