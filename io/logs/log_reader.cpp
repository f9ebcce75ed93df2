#include "io/logs/log_reader.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/launcher_label.hpp"
#include "io/scenario/scenario.hpp"
#include "io/toml/nearest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

/// Lines of a trainer that are read before the form is chosen: Megatron-Bridge prints two forms.
constexpr std::size_t lines_to_choose = 3;
/// Of lines that may belong to a form not chosen yet.
constexpr std::size_t most_waiting = 1000;
/// A longer line is no trainer's, and is dropped.
constexpr std::size_t longest_line = 1U << 20U;

bool blank(char c) { return c == ' ' || c == '\t'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && blank(text.front())) {
        text.remove_prefix(1);
    }
    while (!text.empty() && blank(text.back())) {
        text.remove_suffix(1);
    }
    return text;
}

/// Removes the control sequences of terminals: ECMA-48, 5.4 (ESC [ ... a final byte from @ to ~).
std::string without_colours(std::string_view text)
{
    std::string plain;
    plain.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b' && i + 1 < text.size() && text[i + 1] == '[') {
            i += 2;
            while (i < text.size() && (text[i] < '@' || text[i] > '~')) {
                ++i;
            }
        } else if (text[i] != '\x1b') {
            plain += text[i];
        }
    }
    return plain;
}

/// The number at the start of a text, after blanks, if one of `ends` follows.
std::optional<double> number_before(std::string_view text, std::string_view ends)
{
    std::size_t i = 0;
    while (i < text.size() && blank(text[i])) {
        ++i;
    }
    std::string digits;
    const auto thousands = [&] {
        return text[i] == ',' && !digits.empty() && i + 3 < text.size() && digit(text[i + 1]) && digit(text[i + 2]) &&
               digit(text[i + 3]) && (i + 4 >= text.size() || !digit(text[i + 4]));
    };
    for (; i < text.size(); ++i) {
        const char c = text[i];
        const bool sign = (c == '+' || c == '-') && (digits.empty() || digits.back() == 'e' || digits.back() == 'E');
        const bool exponent = (c == 'e' || c == 'E') && !digits.empty() && digit(digits.back());
        if (digit(c) || c == '.' || sign || exponent) {
            digits += c;
        } else if (!thousands()) {
            break;
        }
    }
    while (i < text.size() && blank(text[i])) {
        ++i;
    }
    const char next = i < text.size() ? text[i] : '\n';
    const double value = number_in(digits);
    if (std::isnan(value) || ends.find(next) == std::string_view::npos) {
        return std::nullopt;
    }
    return value;
}

/// The first number after a key, from a position on; `at` is set to the key's place.
std::optional<double> first_number(std::string_view text, const LogNumber& what, std::size_t from, std::size_t& at)
{
    for (at = text.find(what.key, from); at != std::string_view::npos; at = text.find(what.key, at + 1)) {
        if (const auto value = number_before(text.substr(at + what.key.size()), what.ends)) {
            return value;
        }
    }
    return std::nullopt;
}

/// The last number after a key that begins before a position.
std::optional<double> last_number(std::string_view text, const LogNumber& what, std::size_t before)
{
    for (std::size_t at = text.rfind(what.key, before); at != std::string_view::npos;
         at = at == 0 ? std::string_view::npos : text.rfind(what.key, at - 1)) {
        if (const auto value = number_before(text.substr(at + what.key.size()), what.ends)) {
            return value;
        }
    }
    return std::nullopt;
}

struct TimeColumn {
    std::string_view name;
    double unit;  // seconds
};
constexpr TimeColumn time_columns[] = {
    {"step_time_s", 1.0},       {"seconds", 1.0},       {"step_s", 1.0},        {"time_s", 1.0},
    {"duration_s", 1.0},        {"elapsed_s", 1.0},     {"iteration_s", 1.0},   {"iteration_time_s", 1.0},
    {"step_time_seconds", 1.0}, {"step_time_ms", 1e-3}, {"milliseconds", 1e-3}, {"step_ms", 1e-3},
    {"time_ms", 1e-3},          {"duration_ms", 1e-3},  {"elapsed_ms", 1e-3},   {"iteration_time_ms", 1e-3}};
constexpr std::string_view step_columns[] = {"step", "iteration", "global_step", "number"};

std::string lower(std::string_view text)
{
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return result;
}

std::vector<std::string> fields_of(std::string_view line)
{
    const char separator = line.find('\t') != std::string_view::npos  ? '\t'
                           : line.find(';') != std::string_view::npos ? ';'
                                                                      : ',';
    std::vector<std::string> fields;
    while (true) {
        const std::size_t end = line.find(separator);
        std::string_view field = trimmed(line.substr(0, end));
        if (field.size() >= 2 && field.front() == '"' && field.back() == '"') {
            field = field.substr(1, field.size() - 2);
        }
        fields.emplace_back(field);
        if (end == std::string_view::npos) {
            return fields;
        }
        line.remove_prefix(end + 1);
    }
}

const TimeColumn* time_column(const std::string& name)
{
    const auto* found =
        std::find_if(std::begin(time_columns), std::end(time_columns), [&](const TimeColumn& c) { return c.name == name; });
    return found == std::end(time_columns) ? nullptr : found;
}

bool is_header(std::string_view line)
{
    const std::vector<std::string> fields = fields_of(line);
    return std::any_of(fields.begin(), fields.end(),
                       [](const std::string& field) { return time_column(lower(field)) != nullptr; });
}

bool is_number(std::string_view line) { return !std::isnan(number_in(trimmed(line))); }

bool ignored(std::string_view line) { return trimmed(line).empty() || trimmed(line).front() == '#'; }

}  // namespace

LogReader::LogReader(LogOptions options) : options_(std::move(options))
{
    if (options_.trainer.empty()) {
        return;
    }
    std::vector<std::string> names{std::string(numbers_format), std::string(csv_format)};
    for (const LogFormat& format : log_formats()) {
        names.emplace_back(format.name);
        if (format.name == options_.trainer) {
            format_ = &format;
        }
    }
    if (std::find(names.begin(), names.end(), options_.trainer) == names.end()) {
        const std::string near = nearest(options_.trainer, names);
        throw InputError(fmt::format("--trainer {} is unknown{}; choose from: {}", options_.trainer,
                                     near.empty() ? "" : fmt::format(" (did you mean '{}'?)", near), listed(names)));
    }
    trainer_ = options_.trainer;
}

void LogReader::refuse(std::int64_t line, const std::string& text) const
{
    throw InputError(fmt::format("{}:{}: {}", options_.path, line, text));
}

void LogReader::add(std::string_view text)
{
    while (!text.empty()) {
        const std::size_t end = text.find_first_of("\r\n");
        partial_ += text.substr(0, end);
        if (end == std::string_view::npos) {
            if (partial_.size() > longest_line) {
                partial_.clear();
            }
            return;
        }
        std::string line;
        line.swap(partial_);
        read_line(line);
        line_ += text[end] == '\n' ? 1 : 0;
        text.remove_prefix(end + 1);
    }
}

void LogReader::finish()
{
    if (!partial_.empty()) {
        std::string line;
        line.swap(partial_);
        read_line(line);
    }
    choose(true);
}

std::vector<LoggedStep> LogReader::take()
{
    std::vector<LoggedStep> steps;
    steps.swap(steps_);
    return steps;
}

void LogReader::read_line(std::string_view text)
{
    const Line line{without_colours(text), line_ + 1};
    if (!trainer_.empty()) {
        read(line);
        return;
    }
    if (ignored(line.text)) {
        return;
    }
    if (waiting_.empty() && (is_number(line.text) || is_header(line.text))) {
        trainer_ = is_number(line.text) ? numbers_format : csv_format;
        read(line);
        return;
    }
    if (recognised(line.text) && waiting_.size() < most_waiting) {
        waiting_.push_back(line);
        choose(false);
    }
}

bool LogReader::recognised(const std::string& line)
{
    return std::any_of(log_formats().begin(), log_formats().end(), [&](const LogFormat& format) {
        std::size_t at = 0;
        return first_number(line, format.quantity, 0, at) ||
               (!format.memory.key.empty() && first_number(line, format.memory, 0, at));
    });
}

void LogReader::choose(bool at_end)
{
    if (!trainer_.empty() || waiting_.empty() || (!at_end && waiting_.size() < lines_to_choose)) {
        return;
    }
    for (const LogFormat& format : log_formats()) {
        if (std::any_of(waiting_.begin(), waiting_.end(),
                        [&](const Line& line) { return find(format, line.text).has_value(); })) {
            format_ = &format;
            trainer_ = format.name;
            break;
        }
    }
    if (trainer_.empty()) {
        return;
    }
    std::vector<Line> lines;
    lines.swap(waiting_);
    for (const Line& line : lines) {
        read(line);
    }
}

/// The first step on a line.
std::optional<LogReader::Found> LogReader::find(const LogFormat& format, std::string_view text)
{
    for (std::size_t from = 0; from < text.size();) {
        std::size_t at = 0;
        const auto quantity = first_number(text, format.quantity, from, at);
        if (!quantity) {
            return std::nullopt;
        }
        const std::optional<double> step = format.step.key.empty() ? std::nullopt : last_number(text, format.step, at);
        if (*quantity > 0.0 && (step || format.step.key.empty())) {
            return Found{step, *quantity, at + format.quantity.key.size()};
        }
        from = at + format.quantity.key.size();
    }
    return std::nullopt;
}

void LogReader::read(const Line& line)
{
    if (format_ == nullptr) {
        read_table_line(line);
        return;
    }
    std::size_t at = 0;
    if (!format_->memory.key.empty()) {
        if (const auto memory = first_number(line.text, format_->memory, 0, at)) {
            peak_memory_ = std::max(peak_memory_, *memory * format_->memory_unit);
        }
    }
    std::string_view rest = line.text;
    for (auto found = find(*format_, rest); found; found = find(*format_, rest)) {
        const std::string rank(launcher_label(line.text));
        if (!rank_) {
            rank_ = rank;
        }
        if (rank != *rank_) {
            return;
        }
        std::optional<double> number = found->step;
        if (number) {
            *number += format_->counted_from;
        }
        add_step(number, seconds(format_->kind, found->quantity, line.number), format_->mean, line.number);
        rest.remove_prefix(found->end);
    }
}

void LogReader::read_table_line(const Line& line)
{
    if (ignored(line.text)) {
        return;
    }
    if (trainer_ == numbers_format) {
        const double value = number_in(trimmed(line.text));
        if (!(value > 0.0) || std::isinf(value)) {
            refuse(line.number,
                   fmt::format("\"{}\" is not a step time; each line has one number of seconds above 0", trimmed(line.text)));
        }
        add_step(std::nullopt, value, false, line.number);
        return;
    }
    const std::vector<std::string> fields = fields_of(line.text);
    if (time_column_ < 0) {
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const std::string name = lower(fields[i]);
            if (const TimeColumn* time = time_column(name); time != nullptr && time_column_ < 0) {
                time_column_ = static_cast<int>(i);
                time_unit_ = time->unit;
            }
            if (std::find(std::begin(step_columns), std::end(step_columns), name) != std::end(step_columns)) {
                step_column_ = static_cast<int>(i);
            }
        }
        if (time_column_ < 0) {
            std::vector<std::string> names;
            for (const TimeColumn& column : time_columns) {
                names.emplace_back(column.name);
            }
            refuse(line.number, fmt::format("no column of step times; name it in the first line as one of: {}", listed(names)));
        }
        return;
    }
    const auto number_of = [&](int column) {
        return column < static_cast<int>(fields.size()) ? number_in(fields[static_cast<std::size_t>(column)])
                                                        : std::numeric_limits<double>::quiet_NaN();
    };
    const double value = number_of(time_column_) * time_unit_;
    if (!(value > 0.0) || std::isinf(value)) {
        refuse(line.number, fmt::format("column {} has no step time above 0; correct or remove the line", time_column_ + 1));
    }
    std::optional<double> step;
    if (step_column_ >= 0) {
        step = number_of(step_column_);
        if (!(*step >= 0.0) || *step > 1e15) {
            refuse(line.number, fmt::format("column {} has no step number; correct or remove the line", step_column_ + 1));
        }
    }
    add_step(step, value, false, line.number);
}

double LogReader::seconds(StepQuantity kind, double quantity, std::int64_t line) const
{
    const auto per = [&](double amount, const char* what) {
        if (!(amount > 0.0)) {
            refuse(line, fmt::format("the log gives {} per second, and the amount per step is not known; give a plan", what));
        }
        return amount / quantity;
    };
    switch (kind) {
        case StepQuantity::milliseconds: return quantity * 1e-3;
        case StepQuantity::seconds: return quantity;
        case StepQuantity::tokens_per_second: return per(options_.tokens_per_step, "tokens");
        case StepQuantity::tokens_per_second_per_gpu:
            return per(options_.gpus > 0 ? options_.tokens_per_step / options_.gpus : 0.0, "tokens");
        case StepQuantity::sequences_per_second: return per(options_.sequences_per_step, "sequences");
    }
    return quantity;
}

void LogReader::add_step(std::optional<double> number, double seconds, bool mean, std::int64_t line)
{
    numbers_steps_ = numbers_steps_ || number.has_value();
    LoggedStep step{.number = number ? std::llround(*number) : last_ + 1, .seconds = seconds, .line = line};
    if (!steps_seen_) {
        steps_seen_ = true;
    } else if (step.number == last_) {
        return;  // of another rank, or a progress bar drawn again
    } else if (step.number < last_) {
        step.restarted = true;
        ++restarts_;
    } else if (mean) {
        const std::int64_t difference = step.number - last_;  // more than the interval where a line is missing
        interval_ = interval_ == 0 ? difference : std::min(interval_, difference);
    }
    step.steps = mean ? std::max<std::int64_t>(1, interval_) : 1;
    last_ = step.number;
    steps_.push_back(step);
}

}  // namespace prismopt
