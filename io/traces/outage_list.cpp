#include "io/traces/outage_list.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/utf8.hpp"
#include "io/scenario/scenario.hpp"
#include "model/base/units.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <sstream>

namespace prismopt {

using namespace literals;

namespace {

struct OutageUnit {
    const char* suffix;
    double seconds;
};
constexpr std::array outage_units{OutageUnit{"_s", 1.0}, OutageUnit{"_h", 3600.0}, OutageUnit{"_day", 86'400.0},
                                  OutageUnit{"", 0.0}};

struct OutageTimeColumn {
    int place = -1;
    double unit_s = 0.0;  // zero: dates
};
OutageTimeColumn outage_time_column(const std::vector<std::string>& header, const char* name, const char* slurm)
{
    for (const OutageUnit& unit : outage_units) {
        const std::string with_unit = std::string(name) + unit.suffix;
        if (const int place = column(header, {with_unit}); place >= 0) {
            return {place, unit.seconds};
        }
    }
    return {column(header, {slurm}), 0.0};
}

/// Days from 1970 to a date of the Gregorian calendar. Source: Fliegel and van Flandern, Comm. ACM 11 (1968) 657.
double days_of(int year, int month, int day)
{
    const int a = (month - 14) / 12;
    const int julian =
        day - 32075 + 1461 * (year + 4800 + a) / 4 + 367 * (month - 2 - a * 12) / 12 - 3 * ((year + 4900 + a) / 100) / 4;
    return julian - 2440588.0;
}

int days_in(int year, int month)
{
    constexpr int december = 12;
    return static_cast<int>((month == december ? days_of(year + 1, 1, 1) : days_of(year, month + 1, 1)) -
                            days_of(year, month, 1));
}

/// "2024-03-01T12:30:00", with a blank instead of the T, or the date alone; not a number otherwise.
double seconds_of_date(std::string_view text)
{
    const auto part = [&](std::size_t at, std::size_t length) {
        return text.size() < at + length ? 0.0 : number_in(text.substr(at, length));
    };
    const bool dashes = text.size() >= 10 && text[4] == '-' && text[7] == '-';
    const bool clock = text.size() < 11 || (text.size() >= 19 && text[13] == ':' && text[16] == ':');
    const double year = part(0, 4);
    const double month = part(5, 2);
    const double day = part(8, 2);
    const double time = part(11, 2) * 3600.0 + part(14, 2) * 60.0 + part(17, 2);
    constexpr double latest = 9999.0;
    if (!dashes || !clock || !(year >= 1970.0 && year <= latest && month >= 1.0 && month <= 12.0 && time >= 0.0) ||
        !(day >= 1.0 && day <= days_in(static_cast<int>(year), static_cast<int>(month)))) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return days_of(static_cast<int>(year), static_cast<int>(month), static_cast<int>(day)) * (1_day).si + time;
}

/// "2024-02-31": meant as a date, whether there is such a day or not.
bool looks_like_date(std::string_view text)
{
    constexpr std::string_view pattern = "0000-00-00";
    if (text.size() < pattern.size()) {
        return false;
    }
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        const bool digit = text[i] >= '0' && text[i] <= '9';
        if (pattern[i] == '0' ? !digit : text[i] != pattern[i]) {
            return false;
        }
    }
    return true;
}

[[noreturn]] void refuse_date(const std::string& path, std::uint32_t line, std::string_view text)
{
    throw InputError(fmt::format(
        "{}:{}: start = \"{}\" is not a time; write a number in the column's unit, or a date such as 2024-03-01T12:30:00", path,
        line, text.substr(0, 40)));
}

/// An outage that begins and, unless `end_s` is not a number, ends.
Outage outage_in(const std::string& path, std::uint32_t line, double start_s, double end_s)
{
    constexpr double longest_s = 3650.0 * 86'400.0;
    if (end_s < start_s) {
        throw InputError(fmt::format("{}:{}: the outage ends before it starts; swap the columns or remove the line", path, line));
    }
    if (end_s - start_s > longest_s) {
        throw InputError(
            fmt::format("{}:{}: the outage lasts {:.3g} days, more than ten years; correct its end, or leave it empty if the "
                        "node never came back",
                        path, line, (end_s - start_s) / (1_day).si));
    }
    Outage outage;
    outage.start_s = start_s;
    outage.end_s = std::isfinite(end_s) ? end_s : start_s - 1.0;
    return outage;
}

bool by_operator(std::string_view text)
{
    const auto has = [&](std::string_view word) { return text.find(word) != std::string_view::npos; };
    return text == "Change" || has("Test") || has("MAINT");
}

class OutageList {
public:
    OutageList(const std::string& path, std::vector<Outage>& outages) : path_(path), outages_(outages) {}

    void start(const std::vector<std::string>& header)
    {
        node_ = column(header, {"node", "host", "NodeName"});
        start_ = outage_time_column(header, "start", "TimeStart");
        end_ = outage_time_column(header, "end", "TimeEnd");
        cause_ = column(header, {"cause", "cls", "reason", "Reason"});
        level_ = column(header, {"level", "State"});
        if (node_ < 0 || start_.place < 0) {
            throw InputError(fmt::format("{}:1: a list of outages without {} (header: {}); rename or add columns", path_,
                                         node_ < 0 ? "node" : "start_s (or start_h, start_day, or dates in start)",
                                         fmt::join(header, ", ")));
        }
    }

    void line(const TableLine& line)
    {
        const auto field = [&](int place) {
            return place < 0 ? std::string_view() : line.fields[static_cast<std::size_t>(place)];
        };
        const std::string_view level = field(level_);
        if (field(node_).empty() || by_operator(level) || by_operator(field(cause_))) {
            return;  // Slurm's events of the whole cluster have no node; operators' actions fail no job
        }
        const double start = time(line, start_);
        if (!std::isfinite(start)) {
            refuse_date(path_, line.number, field(start_.place));
        }
        const double end = end_.place < 0 ? std::numeric_limits<double>::quiet_NaN() : time(line, end_);
        if (end_.place >= 0 && !std::isfinite(end) && looks_like_date(field(end_.place))) {
            refuse_date(path_, line.number, field(end_.place));
        }
        Outage outage = outage_in(path_, line.number, start, end);
        outage.node = valid_utf8(field(node_));
        outage.cause = valid_utf8(field(cause_));
        outages_.push_back(std::move(outage));
    }

private:
    static double time(const TableLine& line, const OutageTimeColumn& column)
    {
        const std::string_view field = line.fields[static_cast<std::size_t>(column.place)];
        return column.unit_s > 0.0 ? number_in(field) * column.unit_s : seconds_of_date(field);
    }

    const std::string& path_;
    std::vector<Outage>& outages_;
    int node_ = -1, cause_ = -1, level_ = -1;
    OutageTimeColumn start_, end_;
};

/// A line's words: node, start, end, and the rest as one.
std::vector<std::string> plain_words(const std::string& line)
{
    std::vector<std::string> words;
    std::size_t at = 0;
    constexpr const char* between = " \t,;|\r";
    constexpr std::size_t fields = 4;
    constexpr std::size_t date_length = 10;
    while ((at = line.find_first_not_of(between, at)) != std::string::npos) {
        std::size_t end = std::min(line.find_first_of(between, at), line.size());
        const std::string word = line.substr(at, end - at);
        const bool clock = word.size() >= 8 && word[2] == ':' && word[5] == ':';
        if (clock && !words.empty() && looks_like_date(words.back()) && words.back().size() == date_length) {
            words.back() += " " + word;  // a date with a blank before its time
        } else {
            end = words.size() + 1 == fields ? line.find_last_not_of(between) + 1 : end;
            words.push_back(line.substr(at, end - at));
        }
        at = end;
    }
    return words;
}

}  // namespace

bool is_outage_list(const std::vector<std::string>& header)
{
    return column(header, {"node", "host", "NodeName"}) >= 0 && outage_time_column(header, "start", "TimeStart").place >= 0;
}

void read_outage_list(TraceStream& stream, const std::string& path, char separator, std::vector<Outage>& outages)
{
    OutageList list(path, outages);
    read_table([&stream] { return stream.next(); }, path,
               {[&](const std::vector<std::string>& header) { list.start(header); },
                [&](const TableLine& line) { list.line(line); }, separator});
}

bool is_plain_outage_list(std::string_view beginning)
{
    std::istringstream lines{std::string(beginning)};
    for (std::string line; std::getline(lines, line);) {
        const std::vector<std::string> words = plain_words(line);
        if (!words.empty() && words.front().front() != '#') {
            return words.size() > 1 && looks_like_date(words[1]);
        }
    }
    return false;
}

void read_plain_outage_list(TraceStream& stream, const std::string& path, std::vector<Outage>& outages)
{
    constexpr std::size_t most_bytes = std::size_t{1} << 28;
    std::string all;
    for (std::string_view bytes = stream.next(); !bytes.empty(); bytes = stream.next()) {
        all.append(bytes);
        if (all.size() > most_bytes) {
            throw InputError(path + ": is not a list of outages (more than 256 MB); give node, start and end in each line");
        }
    }
    std::istringstream lines(all);
    std::uint32_t number = 0;
    for (std::string line; std::getline(lines, line);) {
        ++number;
        const std::vector<std::string> words = plain_words(line);
        if (words.empty() || words.front().front() == '#') {
            continue;
        }
        const double start = words.size() > 1 ? seconds_of_date(words[1]) : std::numeric_limits<double>::quiet_NaN();
        if (!std::isfinite(start)) {
            refuse_date(path, number, words.size() > 1 ? words[1] : line);
        }
        const bool ends = words.size() > 2 && looks_like_date(words[2]);
        const double end = ends ? seconds_of_date(words[2]) : std::numeric_limits<double>::quiet_NaN();
        if (ends && !std::isfinite(end)) {
            refuse_date(path, number, words[2]);
        }
        Outage outage = outage_in(path, number, start, end);
        outage.node = valid_utf8(words.front());
        for (std::size_t i = 2 + (ends ? 1 : 0); i < words.size(); ++i) {
            outage.cause += (outage.cause.empty() ? "" : " ") + words[i];
        }
        outage.cause = valid_utf8(outage.cause);
        if (!by_operator(outage.cause)) {
            outages.push_back(std::move(outage));
        }
    }
}

}  // namespace prismopt
