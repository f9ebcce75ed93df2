#include "io/traces/outage_text.hpp"

#include "io/base/csv_stream.hpp"
#include "io/base/input_error.hpp"
#include "io/base/utf8.hpp"
#include "io/traces/event_dates.hpp"
#include "io/traces/text_lines.hpp"
#include "model/base/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>

namespace prismopt {

namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

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
        if (clock && !words.empty() && may_be_date(words.back()) && words.back().size() == date_length) {
            words.back() += " " + word;  // a date with a blank before its time
        } else {
            if (words.size() + 1 == fields) {
                end = line.find_last_not_of(between) + 1;
            }
            words.push_back(line.substr(at, end - at));
        }
        at = end;
    }
    return words;
}

constexpr std::string_view xid_mark = "NVRM: Xid";

/// "gpu0012" of "Mar  5 07:11:19 gpu0012 kernel: NVRM: Xid (PCI:0000:3b:00): 79, ...", its time, and 79.
struct XidMessage {
    std::string host;
    std::string_view time;
    int number = 0;  // of the Xid
};

std::string_view last_word(std::string_view text)
{
    const std::size_t blank = text.find_last_of(' ');
    return blank == std::string_view::npos ? text : text.substr(blank + 1);
}

/// The message of a line; without a host if the line has none.
XidMessage xid_message(std::string_view line)
{
    XidMessage message;
    const std::size_t mark = line.find(xid_mark);
    const std::size_t colon = line.find("): ", mark);
    if (colon != std::string_view::npos) {
        const std::string_view rest = line.substr(colon + 3);
        const double number = number_in(rest.substr(0, rest.find_first_not_of("0123456789")));
        constexpr double most = 100'000.0;
        message.number = number >= 1.0 && number < most ? static_cast<int>(number) : 0;
    }
    const std::size_t kernel = line.substr(0, mark).find("kernel:");
    if (kernel != std::string_view::npos) {
        const std::string_view before = trimmed(line.substr(0, kernel));
        const std::string_view host = last_word(before);
        message.host = plain_text(host);
        message.time = trimmed(before.substr(0, before.size() - host.size()));
    }
    return message;
}

/// Times of one journal. Syslog's have no year: it changes where a host's months start again.
class JournalClock {
public:
    double seconds(const XidMessage& message)
    {
        const std::string_view date = last_word(message.time);
        if (may_be_date(date)) {
            return seconds_of_date(date);
        }
        constexpr std::size_t syslog_length = 15;
        const std::size_t length = std::min(syslog_length, message.time.size());
        const std::optional<SyslogTime> time = syslog_time(message.time.substr(message.time.size() - length));
        if (!time) {
            return not_known;
        }
        Host& host = hosts_[message.host];
        host.year += time->month < host.month ? 1 : 0;
        host.month = time->month;
        return seconds_of(*time, host.year);
    }

private:
    struct Host {
        int year = 2000;  // has a 29 February
        int month = 1;
    };
    std::map<std::string, Host> hosts_;
};

/// Xids that end an application by its own fault, or follow from its end. Source:
/// docs.nvidia.com/deploy/xid-errors, the catalogue's column "Resolution Bucket", RESTART_APP:
/// graphics engine exceptions, faults of the memory management unit, channels that were
/// stopped and clean-up after them.
bool is_by_application(int xid)
{
    constexpr std::array numbers{13, 31, 43, 45};
    return std::find(numbers.begin(), numbers.end(), xid) != numbers.end();
}

}  // namespace

bool is_plain_outage_list(std::string_view beginning)
{
    std::istringstream lines{std::string(beginning)};
    for (std::string line; std::getline(lines, line);) {
        const std::vector<std::string> words = plain_words(line);
        if (!words.empty() && words.front().front() != '#') {
            return words.size() > 1 && may_be_date(words[1]);
        }
    }
    return false;
}

void read_plain_outage_list(TraceStream& stream, const std::string& path, OutageRecords& records)
{
    for_each_line(stream, path, "list of outages", [&](const std::string& line, std::uint32_t number) {
        const std::vector<std::string> words = plain_words(line);
        if (words.empty() || words.front().front() == '#') {
            return;
        }
        const double start_s = words.size() > 1 ? seconds_of_date(words[1]) : not_known;
        if (!std::isfinite(start_s)) {
            refuse_outage_date(path, number, words.size() > 1 ? words[1] : line);
        }
        const bool ends = words.size() > 2 && may_be_date(words[2]);
        const double end_s = ends ? seconds_of_date(words[2]) : not_known;
        if (ends && !std::isfinite(end_s)) {
            refuse_outage_date(path, number, words[2]);
        }
        Outage outage = outage_between(path, number, start_s, end_s);
        outage.node = plain_text(words.front());
        for (std::size_t i = 2 + (ends ? 1 : 0); i < words.size(); ++i) {
            outage.cause += outage.cause.empty() ? "" : " ";
            outage.cause += plain_text(words[i]);
        }
        add_outage(records, std::move(outage), "", number);
    });
}

bool is_xid_journal(std::string_view beginning) { return beginning.find(xid_mark) != std::string_view::npos; }

void read_xid_journal(TraceStream& stream, const std::string& path, OutageRecords& records)
{
    constexpr double same_event_s = 300.0;
    JournalClock clock;
    std::map<std::string, double> latest_s;  // by host
    for_each_line(stream, path, "kernel journal", [&](const std::string& line, std::uint32_t number) {
        if (line.find(xid_mark) == std::string::npos) {
            return;
        }
        const XidMessage message = xid_message(line);
        const double start_s = clock.seconds(message);
        if (message.host.empty() || message.number == 0 || !std::isfinite(start_s)) {
            throw InputError(
                fmt::format("{}:{}: an Xid without its time, host and number; write the journal of each node "
                            "with `journalctl "
                            "-k -o short-iso`, whose lines have them (2024-03-05T07:11:19+0000 gpu0012 "
                            "kernel: NVRM: Xid ...)",
                            path, number));
        }
        if (is_by_application(message.number)) {
            return add_fault(records.excluded, FaultReason::caused_by_application, number);
        }
        const auto before = latest_s.find(message.host);
        const bool repeated = before != latest_s.end() && std::abs(start_s - before->second) <= same_event_s;
        latest_s[message.host] = start_s;
        if (repeated) {
            return add_fault(records.excluded, FaultReason::repeated_within_minutes, number);
        }
        Outage outage = outage_between(path, number, start_s, not_known);
        outage.node = message.host;
        outage.cause = fmt::format("Xid {}", message.number);
        records.outages.push_back(std::move(outage));
    });
}

}  // namespace prismopt
