#pragma once

/// Values of words: expansions of variables, and assignments. Internal to the reader of scripts.

#include "io/authoring/shell/shell_words.hpp"

#include <optional>
#include <set>

namespace prismopt::shell {

/// Whether commands of a branch run.
enum class Runs { yes, no, maybe };

/// When a command runs: whether, and the names whose values decide it.
struct When {
    Runs runs = Runs::yes;
    Names names = {};
};

/// A script as far as it is read. The inputs must outlive it.
struct Reader {
    const ShellInputs& inputs;
    ShellScript script;
    std::vector<std::string> open = {};                       // paths of the files that are being read
    std::optional<std::vector<std::string>> directives = {};  // of the submitted job that is read
    std::set<std::string> exported = {};
    bool exports_all = false;  // set -a
    std::size_t expanded = 0;
    int depth = 0;
    int line = 0;              // of the word that is expanded
    bool empty_array = false;  // whether a part in quotes expands an array without words, and so may be none
    When when = {};            // of the command whose words are expanded
};

/// Counts characters that expansions make. Throws InputError for too many.
void grow(Reader& r, const Text& in, std::size_t by);

/// The words that a word becomes: a value outside quotes is divided at its blanks, unless `splits` is false.
std::vector<ShellWord> expand(Reader& r, const Text& in, std::string_view raw, bool splits);
/// One word: what an assignment gives.
ShellWord expand_whole(Reader& r, const Text& in, std::string_view raw);

/// Length of NAME in NAME= or NAME+=; 0: it is no assignment.
std::size_t assigned_name(std::string_view word);
void assign(Reader& r, const Text& in, const RawWord& word, std::size_t length, const When& when);
/// Gives a variable a value, unless the user gives one.
void give(Reader& r, const std::string& name, ShellValue value, const When& when, int line,
          bool adds = false);
/// The same for a value that is not known; `why` stands behind the name: "is read in line 3".
void give_unknown(Reader& r, const std::string& name, const std::string& why, const When& when);

}  // namespace prismopt::shell
