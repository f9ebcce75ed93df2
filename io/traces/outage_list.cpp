#include "io/traces/outage_list.hpp"

#include "io/scenario.hpp"
#include "io/traces/csv_stream.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace prismopt {

namespace {

struct Unit {
    const char* suffix;
    double seconds;
};
constexpr std::array units{Unit{"_s", 1.0}, Unit{"_h", 3600.0}, Unit{"_day", 86'400.0}, Unit{"", 0.0}};

struct TimeColumn {
    int place = -1;
    double unit_s = 0.0;  // zero: dates
};
TimeColumn time_column(const std::vector<std::string>& header, const char* name, const char* slurm)
{
    for (const Unit& unit : units) {
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
    if (!dashes || !clock || !(year >= 1970.0 && month >= 1.0 && month <= 12.0 && day >= 1.0 && day <= 31.0 && time >= 0.0)) {
        return std::numeric_limits<double>::quiet_NaN();
    }
    return days_of(static_cast<int>(year), static_cast<int>(month), static_cast<int>(day)) * 86'400.0 + time;
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
        start_ = time_column(header, "start", "TimeStart");
        end_ = time_column(header, "end", "TimeEnd");
        cause_ = column(header, {"cause", "cls", "reason", "Reason"});
        level_ = column(header, {"level", "State"});
        if (node_ < 0 || start_.place < 0) {
            throw InputError(fmt::format("{}:1: a list of outages without {} (the header names {}); rename or add columns", path_,
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
        Outage outage;
        outage.node = std::string(field(node_));
        outage.cause = std::string(field(cause_));
        outage.start_s = time(line, start_);
        if (!std::isfinite(outage.start_s)) {
            throw InputError(
                fmt::format("{}:{}: start = \"{}\" is no time; write a number of the column's unit, or a date such as "
                            "2024-03-01T12:30:00",
                            path_, line.number, field(start_.place)));
        }
        const double end = end_.place < 0 ? std::numeric_limits<double>::quiet_NaN() : time(line, end_);
        outage.end_s = std::isfinite(end) ? end : outage.start_s - 1.0;
        if (std::isfinite(end) && end < outage.start_s) {
            throw InputError(fmt::format("{}:{}: the outage ends before it starts; exchange the columns or leave the line out",
                                         path_, line.number));
        }
        outages_.push_back(std::move(outage));
    }

private:
    static double time(const TableLine& line, const TimeColumn& column)
    {
        const std::string_view field = line.fields[static_cast<std::size_t>(column.place)];
        return column.unit_s > 0.0 ? number_in(field) * column.unit_s : seconds_of_date(field);
    }

    const std::string& path_;
    std::vector<Outage>& outages_;
    int node_ = -1, cause_ = -1, level_ = -1;
    TimeColumn start_, end_;
};

}  // namespace

bool is_outage_list(const std::vector<std::string>& header)
{
    return column(header, {"node", "host", "NodeName"}) >= 0 && time_column(header, "start", "TimeStart").place >= 0;
}

void read_outage_list(TraceStream& stream, const std::string& path, char separator, std::vector<Outage>& outages)
{
    OutageList list(path, outages);
    read_table(stream, path,
               {[&](const std::vector<std::string>& header) { list.start(header); },
                [&](const TableLine& line) { list.line(line); }, separator});
}

}  // namespace prismopt
