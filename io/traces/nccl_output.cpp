#include "io/traces/nccl_output.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"
#include "io/base/launcher_label.hpp"
#include "io/traces/text_lines.hpp"
#include "model/base/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace prismopt {

namespace {

/// "all_reduce_perf" of a text that names it, as the launcher's echo or newer versions do.
std::string program_in(const std::string& line)
{
    const std::size_t end = line.find("_perf");
    if (end == std::string::npos) {
        return "";
    }
    std::size_t begin = end;
    while (begin > 0 && (line[begin - 1] == '_' || (line[begin - 1] >= 'a' && line[begin - 1] <= 'z'))) {
        --begin;
    }
    return line.substr(begin, end - begin);
}

/// Reads the outputs of one or more commands, one after the other.
class NcclOutput {
public:
    NcclOutput(const std::string& path, std::vector<Fault>& faults) : path_(path), faults_(faults) {}

    void line(const std::string& text, std::uint32_t number)
    {
        number_ = number;
        if (const std::string program = program_in(text); !program.empty()) {
            finish();
            table_.program = program;
            forget_ranks();
        }
        if (text.find("nThread") != std::string::npos) {
            finish();
            forget_ranks();
        }
        const std::vector<std::string> words = words_of(text);
        if (words.empty()) {
            return;
        }
        if (words.front().front() == '#') {
            return comment(words_of(text.substr(text.find('#') + 1)));
        }
        if (std::isfinite(number_in(words.front()))) {
            row(words);
        }  // else: what launchers print between
    }

    void finish()
    {
        if (!table_.rows.empty()) {
            table_.hosts = static_cast<int>(hosts_.size());
            table_.single_rank =
                table_.ranks == 1 || (table_.ranks == 0 && widest_ > 0.0 && table_.bus == 0.0 && has_bus_);
            tables_.push_back(table_);
        }
        table_.rows.clear();
        table_.bus = 0.0;
        widest_ = 0.0;
    }
    bool any() const { return any_; }
    std::vector<CollectiveTable> release() { return std::move(tables_); }

private:
    void forget_ranks()
    {
        table_.ranks = 0;
        hosts_.clear();
    }

    void comment(const std::vector<std::string>& words)
    {
        const auto has = [&](const char* name) {
            return std::find(words.begin(), words.end(), name) != words.end();
        };
        read_iterations(words);
        if (!words.empty() && words.front() == "Rank") {
            ++table_.ranks;
            // "Rank 0 Group 0 Pid 4711 on node-a device 0 ..."
            const auto on = std::find(words.begin(), words.end(), "on");
            if (on != words.end() && on + 1 != words.end()) {
                hosts_.insert(*(on + 1));
            }
        } else if (has("size") && has("time")) {
            columns_ = words;
        }
    }

    /// "warmup iters: 5 iters: 20 agg iters: 1": a time is the mean of 20 times 1.
    void read_iterations(const std::vector<std::string>& words)
    {
        int plain = 0;
        int aggregated = 1;
        for (std::size_t i = 1; i + 1 < words.size(); ++i) {
            const double count = number_in(words[i + 1]);
            if (words[i] == "iters:" && count >= 1.0 && count <= 1e6) {
                const std::string& of = words[i - 1];
                if (of == "agg") {
                    aggregated = static_cast<int>(count);
                } else if (of != "warmup") {
                    plain = static_cast<int>(count);
                }
            }
        }
        constexpr double most = 1e9;
        if (plain > 0) {
            table_.iterations = static_cast<int>(std::min(most, static_cast<double>(plain) * aggregated));
        }
    }

    void row(const std::vector<std::string>& words)
    {
        const auto field = [&](const char* name) {
            const int place = column(columns_, {name});
            return place < 0 || static_cast<std::size_t>(place) >= words.size()
                       ? std::string()
                       : words[static_cast<std::size_t>(place)];
        };
        if (columns_.empty()) {
            throw InputError(
                fmt::format("{}:{}: numbers before the header line (# size count type redop ... time); give "
                            "the whole output of nccl-tests",
                            path_, number_));
        }
        const double time_us = number_in(field("time"));
        const double size = number_in(field("size"));
        const auto is_word = [](const std::string& text) {
            return !text.empty() && !std::isfinite(number_in(text));
        };
        const bool shifted = (column(columns_, {"type"}) >= 0 && !is_word(field("type"))) ||
                             (column(columns_, {"redop"}) >= 0 && !is_word(field("redop")));
        if (shifted || time_us == 0.0 || !std::isfinite(time_us) || !(size >= 0.0)) {
            throw InputError(fmt::format("{}:{}: is not a line of nccl-tests ({}); is it truncated?", path_,
                                         number_, fmt::join(columns_, ", ")));
        }
        any_ = true;
        if (const auto reason = impossible_duration(1e-6 * time_us)) {
            return add_fault(faults_, *reason, number_);
        }
        const double algorithm = number_in(field("algbw"));
        const double bus = number_in(field("busbw"));
        has_bus_ = std::isfinite(bus);
        // The widest bandwidth has the most digits.
        if (algorithm > widest_ && bus >= 0.0 && std::isfinite(algorithm) && std::isfinite(bus)) {
            widest_ = algorithm;
            table_.bus = bus / algorithm;
        }
        table_.rows.push_back(
            {fmt::format("{} {}", field("type"), field("redop")), field("size"), 1e-6 * time_us, number_});
    }

    const std::string& path_;
    std::vector<Fault>& faults_;
    std::uint32_t number_ = 0;
    CollectiveTable table_;  // of the command that is read
    std::set<std::string> hosts_;
    std::vector<std::string> columns_;
    double widest_ = 0.0;
    bool has_bus_ = false;
    bool any_ = false;
    std::vector<CollectiveTable> tables_;
};

}  // namespace

bool is_nccl_output(std::string_view beginning)
{
    return beginning.find("nThread") != std::string_view::npos ||
           (beginning.find("algbw") != std::string_view::npos &&
            beginning.find("busbw") != std::string_view::npos);
}

std::vector<CollectiveTable> read_nccl_tables(TraceStream& stream, const std::string& path,
                                              std::vector<Fault>& faults)
{
    std::map<std::string, NcclOutput> outputs;  // by label, of which most files have one
    std::vector<std::string> labels;            // in their order
    for_each_line(stream, path, "output of nccl-tests", [&](const std::string& line, std::uint32_t number) {
        const std::string label(launcher_label(line));
        const auto [output, fresh] = outputs.try_emplace(label, path, faults);
        if (fresh) {
            labels.push_back(label);
        }
        output->second.line(line.substr(label.size()), number);
    });
    std::vector<CollectiveTable> tables;
    for (const std::string& label : labels) {
        NcclOutput& output = outputs.at(label);
        output.finish();
        for (CollectiveTable& table : output.release()) {
            tables.push_back(std::move(table));
        }
    }
    if (std::none_of(outputs.begin(), outputs.end(),
                     [](const auto& output) { return output.second.any(); })) {
        throw InputError(path + ": no line has a size and a time; give the whole output of nccl-tests");
    }
    return tables;
}

}  // namespace prismopt
