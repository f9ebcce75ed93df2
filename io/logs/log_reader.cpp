#include "io/logs/log_reader.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"
#include "io/base/launcher_label.hpp"
#include "io/toml/nearest.hpp"
#include "io/toml/toml.hpp"
#include "model/base/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

/// Lines of a trainer that are read before the form is chosen: Megatron-Bridge prints two forms.
constexpr std::size_t lines_to_choose = 3;
/// Whole seconds are off by half a second; over as many seconds, by 1 %.
constexpr double shortest_average_s = 60.0;
/// Of lines that may belong to a form not chosen yet.
constexpr std::size_t most_waiting = 1000;
/// A longer line is no trainer's, and is dropped.
constexpr std::size_t longest_line = 1U << 20U;

bool blank(char c) { return c == ' ' || c == '\t'; }
bool digit(char c) { return c >= '0' && c <= '9'; }

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

/// Factor of a suffix that shortens numbers; 1 for others.
double suffix_factor(char c)
{
    switch (c) {
        case 'K': return 1e3;
        case 'M': return 1e6;
        case 'B': return 1e9;
        case 'T': return 1e12;
        default: return 1.0;
    }
}

/// The number at the start of a text, after blanks, if one of `ends` follows.
/// `suffixed`: it may end in K, M, B or T.
std::optional<double> number_before(std::string_view text, std::string_view ends, bool suffixed = false)
{
    std::size_t i = 0;
    while (i < text.size() && blank(text[i])) {
        ++i;
    }
    std::string digits;
    const auto thousands = [&] {
        return text[i] == ',' && !digits.empty() && i + 3 < text.size() && digit(text[i + 1]) &&
               digit(text[i + 2]) && digit(text[i + 3]) && (i + 4 >= text.size() || !digit(text[i + 4]));
    };
    for (; i < text.size(); ++i) {
        const char c = text[i];
        const bool sign =
            (c == '+' || c == '-') && (digits.empty() || digits.back() == 'e' || digits.back() == 'E');
        const bool exponent = (c == 'e' || c == 'E') && !digits.empty() && digit(digits.back());
        if (digit(c) || c == '.' || sign || exponent) {
            digits += c;
        } else if (!thousands()) {
            break;
        }
    }
    const double factor = suffixed && i < text.size() ? suffix_factor(text[i]) : 1.0;
    i += factor > 1.0 ? 1 : 0;
    while (i < text.size() && blank(text[i])) {
        ++i;
    }
    const char next = i < text.size() ? text[i] : '\n';
    const double value = number_in(digits) * factor;
    if (std::isnan(value) || ends.find(next) == std::string_view::npos) {
        return std::nullopt;
    }
    return value;
}

/// The first number after a key, from a position on; `at` is set to the key's place.
std::optional<double> first_number(std::string_view text, const LogNumber& what, std::size_t from,
                                   std::size_t& at, bool suffixed = false)
{
    for (at = text.find(what.key, from); at != std::string_view::npos; at = text.find(what.key, at + 1)) {
        if (const auto value = number_before(text.substr(at + what.key.size()), what.ends, suffixed)) {
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
    {"step_time_s", 1.0},
    {"seconds", 1.0},
    {"step_s", 1.0},
    {"time_s", 1.0},
    {"duration_s", 1.0},
    {"elapsed_s", 1.0},
    {"iteration_s", 1.0},
    {"iteration_time_s", 1.0},
    {"step_time_seconds", 1.0},
    {"step_time_ms", 1e-3},
    {"milliseconds", 1e-3},
    {"step_ms", 1e-3},
    {"time_ms", 1e-3},
    {"duration_ms", 1e-3},
    {"elapsed_ms", 1e-3},
    {"iteration_time_ms", 1e-3},
    // Metrics that trainers send to Weights & Biases: Megatron-LM megatron/training/training.py, NeMo, verl
    // (as in log_formats); slime and miles (perf/step_time), MaxText src/maxtext/common/metric_logger.py
    // (perf/step_time_seconds), torchtitan torchtitan/components/metrics.py (time_metrics/...), prime-rl
    // (time/step), NeMo RL (timing/train/total_step_time).
    {"iteration_time", 1.0},
    {"step_time", 1.0},
    {"step_time_sec", 1.0},
    {"train_step_timing in s", 1.0},
    {"time_per_step", 1.0},
    {"timing_s/step", 1.0},
    {"time/step", 1.0},
    {"time_metrics/end_to_end(s)", 1.0},
    {"total_step_time", 1.0},
    {"train_step_time", 1.0}};
/// Sections of metrics of other loops than the training: "eval/step_time".
constexpr std::string_view other_loops[] = {"eval", "val", "valid", "validation", "test"};
constexpr std::string_view step_columns[] = {"step", "_step", "iteration", "global_step", "number"};

/// The first separator of a table's fields that a line has.
char separator_of(std::string_view line)
{
    for (const char separator : {'\t', ';'}) {
        if (line.find(separator) != std::string_view::npos) {
            return separator;
        }
    }
    return ',';
}

std::vector<std::string> fields_of(std::string_view line)
{
    const char separator = separator_of(line);
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

/// Weights & Biases names columns "run - metric", beside "run - metric__MIN" and "__MAX".
std::string metric_of(const std::string& column)
{
    const std::size_t dash = column.rfind(" - ");
    std::string name = dash == std::string::npos ? column : column.substr(dash + 3);
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

/// By the whole name of a metric, or without its section: "perf/step_time" is a step_time.
const TimeColumn* time_column(const std::string& column)
{
    const std::string name = metric_of(column);
    const std::string_view section = std::string_view(name).substr(0, name.find('/'));
    if (std::find(std::begin(other_loops), std::end(other_loops), section) != std::end(other_loops)) {
        return nullptr;
    }
    const std::string_view last = std::string_view(name).substr(name.rfind('/') + 1);  // npos + 1 is 0
    for (const std::string_view spelled : {std::string_view(name), last}) {
        const auto* found = std::find_if(std::begin(time_columns), std::end(time_columns),
                                         [&](const TimeColumn& c) { return c.name == spelled; });
        if (found != std::end(time_columns)) {
            return found;
        }
    }
    return nullptr;
}

bool is_header(std::string_view line)
{
    const std::vector<std::string> fields = fields_of(line);
    return std::any_of(fields.begin(), fields.end(),
                       [](const std::string& field) { return time_column(lower_case(field)) != nullptr; });
}

bool is_number(std::string_view line) { return !std::isnan(number_in(trimmed(line))); }

/// Names in several columns, as the first line of a table has.
bool may_be_header(const std::vector<std::string>& fields)
{
    return fields.size() > 1 && std::none_of(fields.begin(), fields.end(), [](const std::string& field) {
               return field.empty() || is_number(field);
           });
}

bool ignored(std::string_view line) { return trimmed(line).empty() || trimmed(line).front() == '#'; }

/// Larger numbers are not exact, and no job has as many steps.
bool is_step_number(double number) { return number >= 0.0 && number <= 1e15; }

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
        throw InputError(fmt::format("--trainer {} is unknown{}; choose from: {}", options_.trainer,
                                     guess_of(options_.trainer, names), listed(names)));
    }
    trainer_ = options_.trainer;
}

void LogReader::refuse(std::int64_t line, const std::string& text) const
{
    throw InputError(fmt::format("{}:{}: {}", options_.path, line, text));
}

void LogReader::refuse_columns(std::int64_t line, const std::vector<std::string>& header) const
{
    constexpr std::size_t most = 20;
    std::vector<std::string> accepted;
    for (const TimeColumn& column : time_columns) {
        accepted.emplace_back(column.name);
    }
    std::vector<std::string> present;
    for (std::size_t i = 0; i < std::min(most, header.size()); ++i) {
        present.push_back(printable(header[i]));
    }
    refuse(
        line,
        fmt::format(
            "no column of step times among {}{}; name it in the first line as one of: {} (after any section: "
            "perf/step_time)",
            listed(present), header.size() > most ? ", ..." : "", listed(accepted)));
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

void LogReader::finish(bool stopped)
{
    if (!partial_.empty() && !stopped) {
        std::string line;
        line.swap(partial_);
        read_line(line);
    }
    choose(true);
    average_elapsed({.line = line_});
}

std::vector<LoggedStep> LogReader::drain()
{
    std::vector<LoggedStep> steps;
    steps.swap(steps_);
    return steps;
}

void LogReader::Restarts::add()
{
    ++all;
    at_time_limits += at_time_limit ? 1 : 0;
    at_time_limit = false;
}

/// A job may handle the signal at its time limit and make some steps before it is killed: Slurm waits for
/// KillWait (slurm.conf, 30 s by default), and output may be written late.
void LogReader::Restarts::go_on(double seconds)
{
    constexpr double until_killed_s = 120.0;
    since_limit_s += seconds;
    at_time_limit = at_time_limit && since_limit_s < until_killed_s;
}

void LogReader::read_line(std::string_view text)
{
    const Line line{without_colours(text), line_ + 1};
    // Slurm, src/slurmd/slurmstepd/req.c: "*** JOB 7 ON node CANCELLED AT ... DUE TO TIME LIMIT ***"
    if (line.text.find("DUE TO TIME LIMIT") != std::string::npos) {
        restarts_.at_time_limit = true;
        restarts_.since_limit_s = 0.0;
    }
    if (!out_of_memory_) {
        out_of_memory_ = out_of_memory_in(line.text, line.number);
    }
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
    const std::vector<std::string> fields = fields_of(line.text);
    if (!first_line_) {
        first_line_ = line;
    } else if (const std::vector<std::string> first = fields_of(first_line_->text);
               waiting_.empty() && may_be_header(first) && first.size() == fields.size() &&
               is_number(fields.front())) {
        refuse_columns(first_line_->number, first);
    }
    if (recognised(line.text) && waiting_.size() < most_waiting) {
        waiting_.push_back(line);
        choose(false);
    }
}

bool LogReader::recognised(const std::string& line)
{
    return std::any_of(log_formats().begin(), log_formats().end(), [&](const LogFormat& format) {
        const auto holds = [&line](const LogNumber& what, bool suffixed = false) {
            std::size_t at = 0;
            return !what.key.empty() && first_number(line, what, 0, at, suffixed).has_value();
        };
        return holds(format.quantity, format.suffixed) || holds(format.memory) ||
               (format.step_above && holds(format.step)) || (format.parse != nullptr && format.parse(line)) ||
               (format.parse_batch != nullptr && format.parse_batch(line));
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
    if (format.parse != nullptr) {
        const std::optional<StatedStep> stated = format.parse(text);
        return stated ? std::optional(Found{.step = stated->step,
                                            .quantity = stated->quantity,
                                            .end = text.size(),
                                            .sequences = stated->sequences,
                                            .total = stated->total})
                      : std::nullopt;
    }
    const bool numbered = !format.step.key.empty() && !format.step_above;
    for (std::size_t from = 0; from < text.size();) {
        std::size_t at = 0;
        const auto quantity = first_number(text, format.quantity, from, at, format.suffixed);
        if (!quantity) {
            return std::nullopt;
        }
        const std::optional<double> step = numbered ? last_number(text, format.step, at) : std::nullopt;
        const std::size_t end = at + format.quantity.key.size();
        if (*quantity > 0.0 && (step || !numbered)) {
            Found found{.step = step, .quantity = *quantity, .end = end};
            if (!format.batch.key.empty()) {
                found.sequences =
                    std::max(0.0, first_number(text, format.batch, 0, at, format.suffixed).value_or(0.0));
            }
            if (!format.samples.key.empty()) {
                found.samples = first_number(text, format.samples, 0, at, format.suffixed).value_or(0.0);
            }
            return found;
        }
        from = end;
    }
    return std::nullopt;
}

void LogReader::read(const Line& line)
{
    if (format_ == nullptr) {
        read_table_line(line);
        return;
    }
    read_stated(line.text);
    std::string_view rest = line.text;
    for (auto found = find(*format_, rest); found; found = find(*format_, rest)) {
        const std::string rank(launcher_label(line.text));
        if (!stated_.rank) {
            stated_.rank = rank;
        }
        if (stated_.total == 0) {
            stated_.total = found->total;
        }
        if (rank != *stated_.rank || found->total != stated_.total) {
            return;
        }
        if (stated_.total > 0) {
            total_steps_ = stated_.total;
        }
        std::optional<double> number = format_->step_above ? stated_.step_above : found->step;
        if (number) {
            *number = step_number(*number) + format_->counted_from;
            if (!is_step_number(*number)) {
                refuse(line.number, "the line has no step number; correct or remove it");
            }
        }
        const LoggedStep step{.line = line.number, .sequences = batch_of(*found), .samples = found->samples};
        if (format_->kind == StepQuantity::elapsed_seconds) {
            add_elapsed({std::llround(*number), found->quantity}, step);
        } else {
            add_step(number, seconds(format_->kind, found->quantity, line.number), format_->mean, step);
        }
        rest.remove_prefix(found->end);
    }
}

/// What a line states beside step times.
void LogReader::read_stated(const std::string& text)
{
    std::size_t at = 0;
    if (!format_->memory.key.empty()) {
        if (const auto memory = first_number(text, format_->memory, 0, at)) {
            peak_memory_ = std::max(peak_memory_, *memory * format_->memory_unit);
        }
    }
    if (!format_->total.key.empty()) {
        if (const auto last = first_number(text, format_->total, 0, at, format_->suffixed)) {
            total_steps_ = *last + format_->counted_from;
        }
    }
    if (format_->step_above) {
        if (const auto step = first_number(text, format_->step, 0, at)) {
            stated_.step_above = step;
        }
    }
    if (format_->parse_batch != nullptr) {
        stated_.batch = format_->parse_batch(text).value_or(stated_.batch);
    }
}

/// Rounded numbers are those of the plan where they may be.
double LogReader::batch_of(const Found& found) const
{
    constexpr double rounding = 0.005;  // of three digits
    const double stated = found.sequences > 0.0 ? found.sequences : stated_.batch;
    const double planned = options_.sequences_per_step;
    return format_->suffixed && std::abs(stated - planned) <= rounding * planned ? planned : stated;
}

/// MLPerf logs count samples or steps; multiples of the batch are samples.
double LogReader::step_number(double stated) const
{
    const double batch = stated_.batch > 0.0 ? stated_.batch : options_.sequences_per_step;
    const bool may_count_samples = format_->parse_batch != nullptr && batch >= 1.0;
    return may_count_samples && stated >= batch && std::fmod(stated, batch) == 0.0 ? stated / batch : stated;
}

void LogReader::read_table_line(const Line& line)
{
    if (ignored(line.text)) {
        return;
    }
    if (trainer_ == numbers_format) {
        read_number(line);
        return;
    }
    const std::vector<std::string> fields = fields_of(line.text);
    if (columns_.time < 0) {
        read_header(line, fields);
    } else {
        read_fields(line, fields);
    }
}

void LogReader::read_number(const Line& line)
{
    const double value = number_in(trimmed(line.text));
    if (!(value > 0.0) || std::isinf(value)) {
        refuse(line.number,
               fmt::format("\"{}\" is not a step time; each line has one number of seconds above 0",
                           trimmed(line.text)));
    }
    add_step(std::nullopt, value, false, {.line = line.number});
}

void LogReader::read_header(const Line& line, const std::vector<std::string>& fields)
{
    for (std::size_t i = 0; i < fields.size(); ++i) {
        const std::string name = lower_case(fields[i]);
        const TimeColumn* time = time_column(name);
        if (time != nullptr && columns_.time < 0) {
            columns_.time = static_cast<int>(i);
            columns_.time_unit = time->unit;
        }
        if (std::find(std::begin(step_columns), std::end(step_columns), name) != std::end(step_columns)) {
            columns_.step = static_cast<int>(i);
        }
    }
    if (columns_.time < 0) {
        refuse_columns(line.number, fields);
    }
}

void LogReader::read_fields(const Line& line, const std::vector<std::string>& fields)
{
    const auto field_of = [&](int column) {
        const auto place = static_cast<std::size_t>(column);
        return place < fields.size() ? &fields[place] : nullptr;
    };
    const auto number_of = [&](int column) {
        const std::string* field = field_of(column);
        return field != nullptr ? number_in(*field) : std::numeric_limits<double>::quiet_NaN();
    };
    if (const std::string* time = field_of(columns_.time); time != nullptr && time->empty()) {
        return;  // a line of other metrics
    }
    const double value = number_of(columns_.time) * columns_.time_unit;
    if (!(value > 0.0) || std::isinf(value)) {
        refuse(line.number, fmt::format("column {} has no step time above 0; correct or remove the line",
                                        columns_.time + 1));
    }
    std::optional<double> step;
    if (columns_.step >= 0) {
        step = number_of(columns_.step);
        if (!is_step_number(*step)) {
            refuse(line.number, fmt::format("column {} has no step number; correct or remove the line",
                                            columns_.step + 1));
        }
    }
    add_step(step, value, false, {.line = line.number});
}

double LogReader::seconds(StepQuantity kind, double quantity, std::int64_t line) const
{
    const auto per = [&](double amount, const char* what) {
        if (!(amount > 0.0)) {
            refuse(line, fmt::format(
                             "the log gives {} per second, and the amount per step is not known; give a plan",
                             what));
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
        case StepQuantity::steps_per_second: return 1.0 / quantity;
        case StepQuantity::elapsed_seconds: return quantity;
    }
    return quantity;
}

/// The first line of a process shows how far it was at that time; steps count from there.
void LogReader::add_elapsed(Elapsed now, LoggedStep step)
{
    numbers_steps_ = true;
    const bool begun = elapsed_.averaged.has_value();
    const bool restarted = begun && (now.step < elapsed_.last.step || now.seconds < elapsed_.last.seconds);
    if (begun && !restarted && now.step == elapsed_.last.step) {
        return;  // drawn again
    }
    if (restarted) {
        average_elapsed(step);
        elapsed_.restarted = true;
        restarts_.add();
    }
    if (!begun || restarted) {
        elapsed_.averaged = now.step == 1 ? Elapsed{} : now;
    }
    restarts_.go_on(begun && !restarted ? now.seconds - elapsed_.last.seconds : 0.0);
    elapsed_.last = now;
    if (elapsed_.count == 0) {
        elapsed_.first = now.step;
    }
    ++elapsed_.count;
    if (now.seconds - elapsed_.averaged->seconds >= shortest_average_s) {
        average_elapsed(step);
    }
}

/// Adds a step that stands for those since the last one.
void LogReader::average_elapsed(const LoggedStep& step)
{
    if (!elapsed_.averaged) {
        return;
    }
    const std::int64_t steps = elapsed_.last.step - elapsed_.averaged->step;
    const double seconds = elapsed_.last.seconds - elapsed_.averaged->seconds;
    if (steps < 1 || !(seconds > 0.0)) {
        return;
    }
    LoggedStep mean = step;
    mean.number = elapsed_.last.step;
    mean.seconds = seconds / static_cast<double>(steps);
    mean.steps = steps;
    mean.first = elapsed_.first;
    mean.lines = elapsed_.count;
    mean.restarted = elapsed_.restarted;
    steps_.push_back(mean);
    elapsed_.averaged = elapsed_.last;
    elapsed_.count = 0;
    elapsed_.restarted = false;
}

/// Where lines state the samples so far, and no batch: what the steps since the last line have added; on the
/// first line, the mean since the start if that is whole.
double LogReader::batch_by_samples(const LoggedStep& step) const
{
    const bool follows = samples_.sequences > 0.0 && step.number > samples_.step;
    const SampleCount before = follows ? samples_ : SampleCount{};
    const double batch = (step.samples - before.sequences) /
                         static_cast<double>(std::max<std::int64_t>(1, step.number - before.step));
    const bool plausible = batch >= 1.0 && (follows || batch == std::floor(batch));
    return plausible ? batch : 0.0;
}

/// Ranks that write some lines each by turns look like a job that restarts each time at the step with which
/// its news began. A restart goes back to a checkpoint, which may be there once or twice.
void LogReader::refuse_ranks(const LoggedStep& step)
{
    constexpr int most_equal = 5;
    if (step.restarted) {
        progress_.restart(step.number);
        if (progress_.equal > most_equal) {
            refuse(step.line,
                   fmt::format("the numbers of steps go back for the {}th time to where they went on last, "
                               "as where several "
                               "ranks write to one log without their names; give the lines of one rank",
                               progress_.equal));
        }
    }
    progress_.advance(step.number);
}

void LogReader::Progress::restart(std::int64_t number)
{
    const bool at_last_news = goes_on && number == first_new;
    equal = at_last_news ? equal + 1 : 0;
    goes_on = false;
}

void LogReader::Progress::advance(std::int64_t number)
{
    const bool first = largest == 0;
    if (!first && number <= largest) {
        return;
    }
    if (first || !goes_on) {
        first_new = number;
    }
    goes_on = true;
    largest = number;
}

void LogReader::add_step(std::optional<double> number, double seconds, bool mean, LoggedStep step)
{
    if (!(seconds > 0.0) || std::isinf(seconds)) {
        refuse(step.line, "the line has no step time above 0; correct or remove it");
    }
    numbers_steps_ = numbers_steps_ || number.has_value();
    step.number = number ? std::llround(*number) : numbers_.last + 1;
    step.seconds = seconds;
    if (!numbers_.seen) {
        numbers_.seen = true;
    } else if (step.number == numbers_.last) {
        return;  // of another rank, or a progress bar drawn again
    } else if (step.number < numbers_.last) {
        step.restarted = true;
        restarts_.add();
    } else if (mean) {
        // more than the interval where a line is missing
        const std::int64_t difference = step.number - numbers_.last;
        numbers_.interval = numbers_.interval == 0 ? difference : std::min(numbers_.interval, difference);
    }
    refuse_ranks(step);
    step.steps = mean ? std::max<std::int64_t>(1, numbers_.interval) : 1;
    restarts_.go_on(step.seconds * static_cast<double>(step.steps));
    numbers_.last = step.number;
    if (number && step.samples > 0.0) {
        if (!(step.sequences > 0.0)) {
            step.sequences = batch_by_samples(step);
        }
        samples_ = {step.number, step.samples};
    }
    steps_.push_back(step);
}

}  // namespace prismopt
