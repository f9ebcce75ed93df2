#include "io/traces/outage_list.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"
#include "io/base/utf8.hpp"
#include "io/traces/event_dates.hpp"
#include "io/traces/planned_event.hpp"
#include "io/traces/text_lines.hpp"
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

enum class TimeForm { number, date, us_date };

struct OutageTimeColumn {
    int place = -1;
    TimeForm form = TimeForm::date;
    double unit_s = 0.0;  // of numbers
};

struct OutageUnit {
    const char* suffix;
    double seconds;
};
constexpr std::array outage_units{OutageUnit{"_s", 1.0}, OutageUnit{"_h", 3600.0},
                                  OutageUnit{"_day", 86'400.0}};

/// Of our own lists, of Slurm's or of LANL's.
OutageTimeColumn outage_time_column(const std::vector<std::string>& header, const std::string& own,
                                    const char* slurm, const char* lanl)
{
    for (const OutageUnit& unit : outage_units) {
        if (const int place = column(header, {own + unit.suffix}); place >= 0) {
            return {place, TimeForm::number, unit.seconds};
        }
    }
    if (const int place = column(header, {lanl}); place >= 0) {
        return {place, TimeForm::us_date, 0.0};
    }
    return {column(header, {own, slurm}), TimeForm::date, 0.0};
}

OutageTimeColumn start_column(const std::vector<std::string>& header)
{
    return outage_time_column(header, "start", "TimeStart", "prob started (mm/dd/yy hh:mm)");
}

int node_column(const std::vector<std::string>& header)
{
    return column(header, {"node", "host", "NodeName", "nodenum"});
}

/// Columns of LANL's data whose field, if any, names the cause.
std::vector<int> cause_columns(const std::vector<std::string>& header)
{
    std::vector<int> places;
    for (const char* name :
         {"Facilities", "Hardware", "Human Error", "Network", "Undetermined", "Software"}) {
        if (const int place = column(header, {name}); place >= 0) {
            places.push_back(place);
        }
    }
    return places;
}

class OutageTable {
public:
    OutageTable(const std::string& path, OutageRecords& records) : path_(path), records_(records) {}

    void start(const std::vector<std::string>& header)
    {
        header_ = header;
        node_ = node_column(header);
        system_ = column(header, {"system", "System"});
        start_ = start_column(header);
        end_ = outage_time_column(header, "end", "TimeEnd", "prob fixed (mm/dd/yy hh:mm)");
        cause_ = column(header, {"cause", "cls", "reason", "Reason"});
        state_ = column(header, {"level", "State"});
        causes_ = cause_ < 0 ? cause_columns(header) : std::vector<int>{};
        if (node_ < 0 || start_.place < 0) {
            throw InputError(
                fmt::format("{}:1: a list of outages without {} (header: {}); rename or add columns", path_,
                            node_ < 0 ? "node" : "start_s (or start_h, start_day, or dates in start)",
                            fmt::join(header, ", ")));
        }
    }

    void line(const TableLine& line)
    {
        if (field(line, node_).empty()) {
            return;  // Slurm's events of the whole cluster have no node
        }
        if (field(line, node_).ends_with('+')) {
            throw InputError(fmt::format(
                "{}:{}: node = \"{}\" is cut off, so nodes cannot be distinguished; print the list with "
                "`sacctmgr show event --parsable2`",
                path_, line.number, plain_text(field(line, node_))));
        }
        const double start_s = time(line, start_);
        if (!std::isfinite(start_s)) {
            refuse_outage_date(path_, line.number, field(line, start_.place));
        }
        const double end_s = end_.place < 0 ? std::numeric_limits<double>::quiet_NaN() : time(line, end_);
        if (!std::isfinite(end_s) && end_.place >= 0 && is_meant_as_date(field(line, end_.place))) {
            refuse_outage_date(path_, line.number, field(line, end_.place));
        }
        Outage outage = outage_between(path_, line.number, start_s, end_s);
        outage.node = plain_text(field(line, node_));
        if (system_ >= 0) {
            outage.node = plain_text(field(line, system_)) + '/' + outage.node;
        }
        outage.cause = cause(line);
        add_outage(records_, std::move(outage), field(line, state_), line.number);
    }

private:
    static std::string_view field(const TableLine& line, int place)
    {
        return place < 0 ? std::string_view() : line.fields[static_cast<std::size_t>(place)];
    }

    static bool is_meant_as_date(std::string_view text)
    {
        return may_be_date(text) || std::count(text.begin(), text.end(), '/') == 2;
    }

    static double time(const TableLine& line, const OutageTimeColumn& column)
    {
        const std::string_view text = field(line, column.place);
        switch (column.form) {
            case TimeForm::number: return number_in(text) * column.unit_s;
            case TimeForm::us_date: return seconds_of_us_date(text);
            default: return seconds_of_date(text);
        }
    }

    std::string cause(const TableLine& line) const
    {
        for (const int place : causes_) {
            if (!field(line, place).empty()) {
                return plain_text(header_[static_cast<std::size_t>(place)]);
            }
        }
        return plain_text(field(line, cause_));
    }

    const std::string& path_;
    OutageRecords& records_;
    std::vector<std::string> header_;
    int node_ = -1, system_ = -1, cause_ = -1, state_ = -1;
    std::vector<int> causes_;
    OutageTimeColumn start_, end_;
};

/// Columns as a line of dashes shows them: "---------- ------".
struct Span {
    std::size_t begin, end;
};
std::vector<Span> spans_of(std::string_view dashes)
{
    std::vector<Span> spans;
    for (std::size_t begin = dashes.find('-'); begin != std::string_view::npos;) {
        const std::size_t end = std::min(dashes.find_first_not_of('-', begin), dashes.size());
        spans.push_back({begin, end});
        begin = dashes.find('-', end);
    }
    return spans;
}

std::vector<std::string_view> fields_in(std::string_view line, const std::vector<Span>& spans)
{
    std::vector<std::string_view> fields;
    for (const Span& span : spans) {
        std::string_view field =
            span.begin < line.size() ? line.substr(span.begin, span.end - span.begin) : std::string_view();
        field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
        field = field.substr(0, field.find_last_not_of(" \r") + 1);
        fields.push_back(field);
    }
    return fields;
}

bool is_dashes(std::string_view line)
{
    return line.find('-') != std::string_view::npos &&
           line.find_first_not_of("- \r") == std::string_view::npos;
}

}  // namespace

Outage outage_between(const std::string& path, std::uint32_t line, double start_s, double end_s)
{
    constexpr double longest_s = 3650.0 * 86'400.0;
    if (end_s < start_s) {
        throw InputError(fmt::format(
            "{}:{}: the outage ends before it starts; swap the columns or remove the line", path, line));
    }
    if (end_s - start_s > longest_s) {
        throw InputError(
            fmt::format("{}:{}: the outage lasts {:.3g} days, more than ten years; correct its end, or leave "
                        "it empty if the "
                        "node never came back",
                        path, line, (end_s - start_s) / (1_day).si));
    }
    Outage outage;
    outage.start_s = start_s;
    outage.end_s = std::isfinite(end_s) ? end_s : start_s - 1.0;
    return outage;
}

void add_outage(OutageRecords& records, Outage outage, std::string_view state, std::uint32_t line)
{
    if (is_planned_event(outage.cause, state)) {
        return add_fault(records.excluded, FaultReason::planned_event, line);
    }
    const bool ended = outage.end_s >= outage.start_s;
    if (ended && !records.known.emplace(outage.node, outage.start_s, outage.end_s).second) {
        return add_fault(records.excluded, FaultReason::listed_again, line);
    }
    records.outages.push_back(std::move(outage));
}

void refuse_outage_date(const std::string& path, std::uint32_t line, std::string_view text)
{
    throw InputError(
        fmt::format("{}:{}: start = \"{}\" is not a time; write a number in the column's unit, or a date "
                    "such as 2024-03-01T12:30:00",
                    path, line, plain_text(text.substr(0, 40))));
}

bool is_outage_list(const std::vector<std::string>& header)
{
    return node_column(header) >= 0 && start_column(header).place >= 0;
}

void read_outage_list(TraceStream& stream, const std::string& path, char separator, OutageRecords& records)
{
    OutageTable table(path, records);
    read_table([&stream] { return stream.next(); }, path,
               {[&](const std::vector<std::string>& header) { table.start(header); },
                [&](const TableLine& line) { table.line(line); }, separator});
}

bool is_slurm_table(std::string_view beginning)
{
    std::istringstream lines{std::string(beginning)};
    std::string header;
    std::string dashes;
    return std::getline(lines, header) && std::getline(lines, dashes) &&
           header.find("NodeName") != std::string::npos && header.find("TimeStart") != std::string::npos &&
           is_dashes(dashes);
}

void read_slurm_table(TraceStream& stream, const std::string& path, OutageRecords& records)
{
    OutageTable table(path, records);
    std::string header;
    std::vector<Span> spans;
    for_each_line(stream, path, "list of outages", [&](const std::string& line, std::uint32_t number) {
        if (number == 1) {
            header = line;
        } else if (number == 2) {
            spans = spans_of(line);
            const std::vector<std::string_view> names = fields_in(header, spans);
            table.start({names.begin(), names.end()});
        } else if (!is_dashes(line)) {
            const std::vector<std::string_view> fields = fields_in(line, spans);
            table.line({fields, number});
        }
    });
}

}  // namespace prismopt
