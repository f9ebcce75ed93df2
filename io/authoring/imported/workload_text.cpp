#include "io/authoring/imported/imported_network.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <type_traits>
#include <variant>

namespace prismopt {

namespace {

std::string toml_text(std::string_view text)
{
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            result += '\\';
        }
        result += c;
    }
    return result + '"';
}

/// A key of TOML, in quotes unless it consists of letters, digits, - and _.
std::string key_text(const std::string& name)
{
    const bool bare = !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return std::isalnum(c) != 0 || c == '-' || c == '_';
    });
    return bare && name != "-" ? name : toml_text(name);
}

template <class Value>
std::string value_text(const Value& value)
{
    if constexpr (std::is_same_v<Value, bool>) {
        return value ? "true" : "false";
    } else if constexpr (std::is_enum_v<Value>) {
        return toml_text(name(value));
    } else {
        return fmt::format("{}", value);
    }
}

/// The keys that differ from their defaults.
template <class Kind>
std::string block_inline(const Kind& block)
{
    std::string text = fmt::format("{{ block = \"{}\"", Kind::name);
    const Kind usual;
    std::apply(
        [&](const auto&... key) {
            ((text += key.required || block.*(key.member) != usual.*(key.member)
                          ? fmt::format(", {} = {}", key.name, value_text(block.*(key.member)))
                          : ""),
             ...);
        },
        Kind::keys);
    return text + " }";
}

std::string block_inline(const BlockDescription& block)
{
    return std::visit([](const auto& own) { return block_inline(own); }, block);
}

bool single_characters(const Workload& w, const std::vector<LayerRun>& runs)
{
    return std::all_of(runs.begin(), runs.end(),
                       [&w](const LayerRun& run) { return w.kinds[run.kind].name.size() == 1; });
}

std::string pattern_of(const Workload& w, const std::vector<LayerRun>& runs)
{
    std::string pattern;
    for (const LayerRun& run : runs) {
        for (int i = 0; i < run.count; ++i) {
            pattern += w.kinds[run.kind].name;
        }
    }
    return pattern;
}

/// Length of the unit that the pattern repeats, the last time perhaps in part.
std::size_t period_of(const std::string& pattern)
{
    std::size_t period = 1;
    while (period < pattern.size() && !std::equal(pattern.begin() + static_cast<std::ptrdiff_t>(period),
                                                  pattern.end(), pattern.begin())) {
        ++period;
    }
    return period;
}

std::string sequence_text(const Workload& w)
{
    constexpr std::size_t few_runs = 2;
    std::string text;
    if (w.sequence.size() > few_runs && single_characters(w, w.sequence)) {
        const std::string pattern = pattern_of(w, w.sequence);
        const std::size_t period = period_of(pattern);
        if (2 * period > pattern.size()) {
            return fmt::format("pattern = {}\n", toml_text(pattern));
        }
        const std::string rest = pattern.substr(pattern.size() / period * period);
        text = fmt::format("{{ pattern = {}, count = {} }}", toml_text(pattern.substr(0, period)),
                           pattern.size() / period);
        text += rest.empty() ? "" : fmt::format(", {{ pattern = {} }}", toml_text(rest));
        return fmt::format("sequence = [{}]\n", text);
    }
    for (const LayerRun& run : w.sequence) {
        text += fmt::format("{}{{ layer = {}, count = {} }}", text.empty() ? "" : ", ",
                            toml_text(w.kinds[run.kind].name), run.count);
    }
    return fmt::format("sequence = [{}]\n", text);
}

std::string prediction_text(const Workload& w)
{
    if (w.prediction.empty()) {
        return "";
    }
    const bool one = w.prediction.size() == 1 && w.prediction.front().count == 1;
    return one ? fmt::format("prediction = {{ layer = {} }}\n",
                             toml_text(w.kinds[w.prediction.front().kind].name))
               : fmt::format("prediction = {{ pattern = {} }}\n", toml_text(pattern_of(w, w.prediction)));
}

std::string layer_text(const LayerDescription& layer)
{
    std::string text = fmt::format("\n[workload.layer.{}]\n", key_text(layer.name));
    if (layer.parallel) {
        text += "parallel = true\n";
    }
    if (layer.tokens != 1.0) {
        text += fmt::format("tokens = {}\n", layer.tokens);
    }
    if (layer.blocks.size() == 1) {
        return text + fmt::format("blocks = [{}]\n", block_inline(layer.blocks.front()));
    }
    text += "blocks = [\n";
    for (const BlockDescription& block : layer.blocks) {
        text += fmt::format("    {},\n", block_inline(block));
    }
    return text + "]\n";
}

}  // namespace

std::string workload_text(const ImportedNetwork& network)
{
    const Workload& w = network.workload;
    std::string text = fmt::format("[workload]                           # from {} of {}\n", network.origin,
                                   network.architecture);
    for (const std::string& assumption : network.assumptions) {
        text += fmt::format("# assumed: {}\n", assumption);
    }
    for (const std::string& field : network.omitted) {
        text += fmt::format("# omitted: {}\n", field);
    }
    text += fmt::format("name = {}\nhidden = {}\n", toml_text(w.name), w.hidden);
    if (w.vocabulary > 0) {
        text += fmt::format("vocabulary = {}\n", w.vocabulary);
    }
    if (w.positions > 0) {
        text += fmt::format("positions = {}\n", w.positions);
    }
    text += fmt::format("normalisation = {}\n", toml_text(name(w.normalisation)));
    if (w.norms != NormPlace::pre) {
        text += fmt::format("norms = {}\n", toml_text(name(w.norms)));
    }
    if (w.tied_embedding) {
        text += "tied_embedding = true\n";
    }
    text += sequence_text(w) + prediction_text(w);
    if (w.predictions > 0) {
        text += fmt::format("predictions = {}\n", w.predictions);
    }
    for (const std::string& line : network.keys) {
        text += line + "\n";
    }
    for (const LayerDescription& layer : w.kinds) {
        text += layer_text(layer);
    }
    return text;
}

}  // namespace prismopt
