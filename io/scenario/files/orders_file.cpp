#include "io/scenario/files/orders_file.hpp"

#include "io/base/csv.hpp"
#include "io/base/input_error.hpp"
#include "model/base/words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <span>
#include <string_view>

namespace prismopt {

namespace {

constexpr std::array<std::string_view, 7> not_tasks{"SEND_F",  "RECV_F",  "SEND_B",     "RECV_B",
                                                    "UNSHARD", "RESHARD", "REDUCE_GRAD"};
constexpr std::string_view overlap = ")OVERLAP_F_B";

struct NamedPass {
    std::string_view name;
    Pass pass;
};
constexpr std::array<NamedPass, 5> passes{{{"F", Pass::forward},
                                           {"B", Pass::backward},
                                           {"BW", Pass::backward},
                                           {"I", Pass::input_gradient},
                                           {"W", Pass::weight_gradient}}};

/// Takes a number from the front.
std::optional<int> read_number(std::string_view& text)
{
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value < 0) {
        return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
}

/// What a cell says: one task, the two of an overlap, or none.
using Cell = std::vector<ChunkTask>;

/// Nothing where it is not an action.
std::optional<Cell> single(std::string_view text)
{
    const auto network_chunk = read_number(text);
    const std::string_view name = text.substr(0, text.find_first_of("0123456789"));
    text.remove_prefix(name.size());
    const auto microbatch = read_number(text);
    if (!network_chunk || !text.empty()) {
        return std::nullopt;
    }
    const auto* const kind =
        std::find_if(passes.begin(), passes.end(), [name](const NamedPass& k) { return k.name == name; });
    if (kind != passes.end() && microbatch) {
        return Cell{{kind->pass, *network_chunk, *microbatch}};
    }
    return std::find(not_tasks.begin(), not_tasks.end(), name) == not_tasks.end() ? std::nullopt
                                                                                  : std::optional(Cell{});
}

std::optional<Cell> pair(std::string_view text)
{
    text = text.substr(1, text.size() - 1 - overlap.size());
    const auto middle = text.find(';');
    if (middle == std::string_view::npos) {
        return std::nullopt;
    }
    const auto forward = single(trimmed(text.substr(0, middle)));
    const auto backward = single(trimmed(text.substr(middle + 1)));
    if (!forward || !backward || forward->size() != 1 || backward->size() != 1 ||
        forward->front().pass != Pass::forward || backward->front().pass != Pass::backward) {
        return std::nullopt;
    }
    Cell both{forward->front(), backward->front()};
    both[0].pass = Pass::paired_forward;
    both[1].pass = Pass::paired_backward;
    return both;
}

std::optional<Cell> cell(std::string_view text)
{
    if (text.empty()) {
        return Cell{};
    }
    return text.front() == '(' && text.ends_with(overlap) ? pair(text) : single(text);
}

/// No action has bytes outside printable ASCII, and a terminal is not to get them.
void refuse_bytes(std::string_view field, const std::string& path, std::size_t line, std::size_t column)
{
    const auto strange = std::find_if(field.begin(), field.end(),
                                      [](char c) { return c != '\t' && c != '\n' && (c < ' ' || c > '~'); });
    if (strange != field.end()) {
        throw InputError(
            fmt::format("{}:{}: column {} contains the byte 0x{:02X}, so this is not a table of actions; "
                        "give a table as written "
                        "by predict --write-orders",
                        path, line, column, static_cast<unsigned char>(*strange)));
    }
}

}  // namespace

ChunkOrders parse_orders(const std::string& text, const std::string& path)
{
    ChunkOrders orders;
    for (const auto& line : csv_fields(text, path)) {
        orders.emplace_back();
        for (std::size_t column = 0; column < line.size(); ++column) {
            const auto tasks = cell(trimmed(line[column]));
            if (!tasks) {
                refuse_bytes(line[column], path, orders.size(), column + 1);
                throw InputError(
                    fmt::format("{}:{}: column {}, '{}', is not an action; write stage, F, B, I or W, and "
                                "microbatch, for "
                                "example 0F0, or (0F4;3B1)OVERLAP_F_B",
                                path, orders.size(), column + 1, line[column]));
            }
            orders.back().insert(orders.back().end(), tasks->begin(), tasks->end());
        }
    }
    return orders;
}

ChunkOrders read_orders(const std::string& path) { return parse_orders(read_text(path), path); }

std::string orders_csv(const ChunkOrders& orders)
{
    std::string text;
    for (const auto& order : orders) {
        std::string_view comma;
        for (const ChunkTask& task : order) {
            switch (task.pass) {
                case Pass::paired_forward: text += fmt::format("{}({}", comma, task_name(task)); break;
                case Pass::paired_backward: text += fmt::format(";{}{}", task_name(task), overlap); break;
                default: text += fmt::format("{}{}", comma, task_name(task));
            }
            comma = ",";
        }
        text += '\n';
    }
    return text;
}

}  // namespace prismopt
