#pragma once

/// Lines that trainers print about their steps: how a line is recognised, and what follows
/// from it. docs/watch.md lists them.

#include <optional>
#include <string_view>
#include <vector>

namespace prismopt {

/// Quantity of a line from which the seconds of a step follow.
enum class StepQuantity {
    milliseconds,
    seconds,
    tokens_per_second_per_gpu,
    tokens_per_second,     // of the whole job
    sequences_per_second,  // of the whole job
    steps_per_second,
    // whole ones since the start of the process: steps are averaged until their rounding is small
    elapsed_seconds,
};

/// A step that a line states.
struct StatedStep {
    std::optional<double> step;
    double quantity = 0.0;
    double sequences = 0.0;  // in the global batch; 0: not stated
    int total = 0;           // steps of a progress bar: bars of other lengths are of other loops; 0: no bar
};

/// A number on a line: it follows `key` and blanks, and one of the characters `ends` follows it, after
/// blanks; '\n' there stands for the end of the line. Thousands may have commas. A line that another process
/// wrote into lacks the end, and is not read.
struct LogNumber {
    std::string_view key;  // empty: the line has none
    std::string_view ends;
};

/// A form of line.
struct LogFormat {
    std::string_view name;      // what --trainer takes
    std::string_view trainers;  // for help
    LogNumber step{};           // no key: lines are counted
    LogNumber total{};          // steps of the whole training; no key: not printed
    LogNumber quantity{};
    StepQuantity kind = StepQuantity::seconds;
    bool mean = true;         // the quantity is a mean over the steps since the last line, not of one step
    int counted_from = 0;     // 1: the trainer calls the first step 0
    LogNumber batch{};        // sequences of the global batch; no key: not printed
    LogNumber samples{};      // sequences since the start of the training; no key: not printed
    bool suffixed = false;    // numbers are rounded to three digits and end in K, M, B or T: 6.21K
    bool step_above = false;  // the step is on a line of its own, above the quantity
    // Of lines that are not keys and numbers.
    std::optional<StatedStep> (*parse)(std::string_view line) = nullptr;
    // Of lines that state the batch alone.
    std::optional<double> (*parse_batch)(std::string_view line) = nullptr;
    LogNumber memory{};        // peak of a GPU; no key: not printed
    double memory_unit = 0.0;  // bytes
    std::string_view source;   // where these lines are printed
};

/// All forms. Of a log in which several occur, the first of this list is read.
const std::vector<LogFormat>& log_formats();

/// Names for tables: a number a line, and CSV with a column of step times.
inline constexpr std::string_view numbers_format = "numbers";
inline constexpr std::string_view csv_format = "csv";

}  // namespace prismopt
