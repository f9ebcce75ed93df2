#include "io/scenario/files/captured_network.hpp"

#include "io/base/csv.hpp"
#include "io/base/input_error.hpp"
#include "io/scenario/files/written_out.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <regex>

namespace prismopt {

namespace {

using nlohmann::json;

constexpr std::string_view format = "prismopt captured network";
constexpr double version = 1.0;
constexpr double largest = 1e18;  // of a count
constexpr double most_layers = 10'000.0;
constexpr double most_tokens = 1e8;
constexpr std::size_t most_operators = 1'000'000;  // of all layers
constexpr double rounding = 1e-9;                  // of sums of counts
constexpr const char* again = "write the file again with jobs/capture_network.py";

/// What every operator may have, beside the counts of its kind.
constexpr std::array common_keys{
    "op",          "name",          "module",           "dtype",           "understood",
    "parameters",  "frozen",        "tied_parameters",  "forward_flops",   "saved_numbers",
    "saved_bytes", "forward_bytes", "backward_numbers", "forward_numbers", "backward_bytes"};

/// A value of the file, and where it is: "layers.Block.operators[3].m".
class Node {
public:
    Node(const json& value, std::string place, const std::string& path)
        : value_(value), place_(std::move(place)), path_(path)
    {
    }

    [[noreturn]] void fail(const std::string& problem, const std::string& remedy = again) const
    {
        throw InputError(
            fmt::format("{}: {} {}; {}", path_, place_.empty() ? "the file" : place_, problem, remedy));
    }
    bool has(const char* key) const { return object().contains(key); }
    Node at(const char* key) const
    {
        if (!has(key)) {
            fail(fmt::format("has no {}", key));
        }
        return {value_[key], place_.empty() ? key : place_ + "." + key, path_};
    }
    std::vector<Node> elements() const
    {
        if (!value_.is_array()) {
            fail(fmt::format("is {}, not a list", shown()));
        }
        std::vector<Node> result;
        for (std::size_t i = 0; i < value_.size(); ++i) {
            result.emplace_back(value_[i], fmt::format("{}[{}]", place_, i), path_);
        }
        return result;
    }
    std::vector<std::string> keys() const
    {
        std::vector<std::string> result;
        for (const auto& [key, value] : object().items()) {
            result.push_back(key);
        }
        return result;
    }
    std::string text() const
    {
        if (!value_.is_string()) {
            fail(fmt::format("is {}, not a string", shown()));
        }
        return printable(value_.get<std::string>());
    }
    bool flag() const
    {
        if (!value_.is_boolean()) {
            fail(fmt::format("is {}, not true or false", shown()));
        }
        return value_.get<bool>();
    }
    double count(double low = 0.0, double high = largest) const
    {
        if (!value_.is_number()) {
            fail(fmt::format("is {}, not a number", shown()));
        }
        const double result = value_.get<double>();
        if (!(result >= low && result <= high)) {
            fail(fmt::format("is {}, but must lie between {:g} and {:g}", shown(), low, high));
        }
        return result;
    }
    int integer(double low, double high) const
    {
        const double result = count(low, high);
        if (result != std::floor(result)) {
            fail(fmt::format("is {}, not an integer", shown()));
        }
        return static_cast<int>(result);
    }
    /// At least one of something.
    double some(const char* key) const
    {
        const Node node = at(key);
        const double result = node.count();
        if (result <= 0.0) {
            node.fail(fmt::format("is {}, but must be positive", node.shown()));
        }
        return result;
    }
    double count_or_zero(const char* key) const { return has(key) ? at(key).count() : 0.0; }
    bool flag_or_false(const char* key) const { return has(key) && at(key).flag(); }

private:
    const json& object() const
    {
        if (!value_.is_object()) {
            fail(fmt::format("is {}, not an object", shown()));
        }
        return value_;
    }
    std::string shown() const
    {
        return printable(value_.dump(-1, ' ', true, json::error_handler_t::replace), 40);
    }

    const json& value_;
    std::string place_;
    const std::string& path_;
};

double all_of(const Node& numbers)
{
    double product = 1.0;
    for (const Node& node : numbers.elements()) {
        product *= node.count(1.0);
    }
    return product;
}

struct Read {
    std::variant<Recorded::Traffic, Recorded::Product, Recorded::Scores, Recorded::Heads, Recorded::Rows>
        work;
    double flops = 0.0;  // forward
};

Read read_product(const Node& node)
{
    const Recorded::Product p{node.some("groups"), node.some("m"), node.some("n"),
                              node.some("k"),      node.some("m"), node.some("k")};
    return {p, 2.0 * p.groups * p.m * p.n * p.k};
}

Read read_scores(const Node& node)
{
    const Recorded::Scores s{node.some("groups"), node.some("m"), node.some("n"), node.some("k")};
    return {s, 2.0 * s.groups * s.m * s.n * s.k};
}

Read read_attention(const Node& node)
{
    const Node kernel = node.at("kernel");
    const bool flash = kernel.text() == "flash";
    if (!flash && kernel.text() != "plain") {
        kernel.fail(fmt::format("is '{}', neither plain nor flash", kernel.text()));
    }
    const Node queries = node.at("queries");
    Recorded::Heads heads{{.heads = node.some("heads"),
                           .key_heads = node.some("key_heads"),
                           .key_size = node.some("key_size"),
                           .value_size = node.some("value_size"),
                           .causal = node.at("causal").flag(),
                           .kernel = flash ? AttentionKernel::flash : AttentionKernel::plain},
                          queries.integer(1.0, most_tokens)};
    const Attention& a = heads.attention;
    const double seen = flash && a.causal ? 0.5 : 1.0;
    return {heads, 2.0 * a.heads * heads.queries * node.some("keys") * (a.key_size + a.value_size) * seen};
}

Read read_convolution(const Node& node)
{
    const double groups = node.some("groups");
    const double in = node.some("in") / groups;
    const double out = node.some("out") / groups;
    const double taps = all_of(node.at("kernel"));
    const double positions = node.some("positions");
    const double inputs = node.some("input_positions");
    // Transposed, each position of the input writes all taps: the same product by the positions of the input.
    const double k = taps * in * (node.at("transposed").flag() ? inputs / positions : 1.0);
    return {Recorded::Product{groups, positions, out, k, inputs, in}, 2.0 * groups * positions * out * k};
}

Read read_lookup(const Node& node)
{
    node.some("rows");
    return {Recorded::Rows{node.some("columns"), node.some("lookups"), node.some("results")}, 0.0};
}

Read read_traffic(const Node& node)
{
    return {Recorded::Traffic{element_bytes * node.count_or_zero("forward_numbers") +
                                  node.count_or_zero("forward_bytes"),
                              element_bytes * node.count_or_zero("backward_numbers") +
                                  node.count_or_zero("backward_bytes")},
            0.0};
}

struct Kind {
    const char* name;
    Read (*read)(const Node&);
    std::vector<std::string> keys;
};

const std::vector<Kind>& kinds()
{
    static const std::vector<Kind> all{
        {"product", read_product, {"groups", "m", "n", "k", "bias"}},
        {"batched_product", read_scores, {"groups", "m", "n", "k"}},
        {"attention",
         read_attention,
         {"heads", "key_heads", "queries", "keys", "key_size", "value_size", "causal", "kernel"}},
        {"convolution",
         read_convolution,
         {"in", "out", "kernel", "stride", "groups", "positions", "input_positions", "transposed", "bias"}},
        {"lookup", read_lookup, {"rows", "columns", "lookups", "results"}},
        {"norm", read_traffic, {}},
        {"activation", read_traffic, {}},
        {"elementwise", read_traffic, {}},
    };
    return all;
}

/// Sums over the whole network, which the file has as well.
struct Totals {
    double parameters = 0.0;
    double forward_flops = 0.0;
    double saved_numbers = 0.0;
    double saved_bytes = 0.0;

    void add(const Totals& other, double times)
    {
        parameters += times * other.parameters;
        forward_flops += times * other.forward_flops;
        saved_numbers += times * other.saved_numbers;
        saved_bytes += times * other.saved_bytes;
    }
};

bool equal(double a, double b) { return std::abs(a - b) <= std::max(0.5, rounding * std::max(a, b)); }

/// Modules that selective recompute finds an operator by.
ModuleSet recomputed_as(const std::string& op, const Recorded& recorded)
{
    if (const auto* heads = std::get_if<Recorded::Heads>(&recorded.work)) {
        return heads->attention.kernel == AttentionKernel::plain ? ModuleSet{Module::core_attn} : ModuleSet{};
    }
    if (op == "norm") {
        return {Module::layernorm, Module::elementwise};
    }
    return op == "activation" ? ModuleSet{Module::elementwise} : ModuleSet{};
}

Operator read_operator(const Node& node, Totals& totals)
{
    const Node op = node.at("op");
    const auto kind = std::find_if(kinds().begin(), kinds().end(),
                                   [&](const Kind& known) { return known.name == op.text(); });
    if (kind == kinds().end()) {
        std::vector<std::string> names;
        for (const Kind& known : kinds()) {
            names.emplace_back(known.name);
        }
        op.fail(fmt::format("is '{}', which is not one of {}", op.text(), fmt::join(names, ", ")));
    }
    for (const std::string& key : node.keys()) {
        if (std::find(common_keys.begin(), common_keys.end(), key) == common_keys.end() &&
            std::find(kind->keys.begin(), kind->keys.end(), key) == kind->keys.end()) {
            node.fail(
                fmt::format("has the key '{}', which does not belong to {}", printable(key), kind->name));
        }
    }
    const Read read = kind->read(node);
    const double flops = node.count_or_zero("forward_flops");
    if (!equal(flops, read.flops)) {
        node.fail(fmt::format("has forward_flops = {:.12g}, but its shape gives {:.12g}", flops, read.flops));
    }
    Recorded recorded;
    recorded.work = read.work;
    recorded.keeps = node.count_or_zero("saved_numbers");
    recorded.keeps_bytes = node.count_or_zero("saved_bytes");
    const double parameters = node.count_or_zero("parameters");
    recorded.own.tied = node.count_or_zero("tied_parameters");
    recorded.own.all = parameters + recorded.own.tied;
    recorded.modules = recomputed_as(op.text(), recorded);
    recorded.frozen = node.flag_or_false("frozen");
    totals.add({parameters, flops, recorded.keeps, recorded.keeps_bytes}, 1.0);
    return recorded;
}

class Reader {
public:
    explicit Reader(const Node& root) : root_(root) {}

    CapturedNetwork network()
    {
        check_format();
        CapturedNetwork result;
        result.name = root_.at("name").text();
        result.tokens = root_.at("tokens").integer(1.0, most_tokens);
        tokens_ = result.tokens;
        Network& network = result.network;
        network.embedding = end("embedding");
        const Node layers = root_.at("layers");
        std::map<std::string, std::pair<int, Totals>> known;
        for (const std::string& name : layers.keys()) {
            auto& [index, own] = known[name];
            index = static_cast<int>(network.kinds.size());
            network.kinds.push_back(kind(name, layers.at(name.c_str()), own));
        }
        for (const Node& entry : root_.at("sequence").elements()) {
            const Node layer = entry.at("layer");
            const auto found = known.find(layer.text());
            if (found == known.end()) {
                layer.fail(fmt::format("is '{}', which layers does not define", layer.text()));
            }
            const int count =
                entry.at("count").integer(1.0, most_layers - static_cast<double>(network.layers.size()));
            const auto& [index, own] = found->second;
            network.layers.insert(network.layers.end(), count, index);
            totals_.add(own, count);
        }
        if (network.layers.empty()) {
            root_.at("sequence").fail("has no layers");
        }
        network.head = end("head");
        check_totals();
        return result;
    }

private:
    void check_format() const
    {
        if (!root_.has("format") || root_.at("format").text() != format) {
            root_.fail("is not a captured network", "give a file written by jobs/capture_network.py");
        }
        const Node found = root_.at("version");
        if (const double given = found.count(); given != version) {
            found.fail(fmt::format("is {:g}, but this program reads {:g}", given, version),
                       "capture the network with the jobs/capture_network.py of this version");
        }
    }

    LayerKind kind(const std::string& name, const Node& node, Totals& totals)
    {
        LayerKind result;
        result.name = name;
        result.width = node.at("width").count() / tokens_;
        for (const Node& element : node.at("operators").elements()) {
            if (++operators_ > most_operators) {
                element.fail(fmt::format("exceeds the limit of {} operators", most_operators),
                             "choose coarser layers with --layers");
            }
            result.operators.push_back(read_operator(element, totals));
        }
        return result;
    }
    LayerKind end(const char* name)
    {
        Totals own;
        LayerKind result = kind(name, root_.at(name), own);
        totals_.add(own, 1.0);
        return result;
    }

    void check_totals() const
    {
        const Node totals = root_.at("totals");
        const auto check = [&](const char* key, double sum) {
            const Node given = totals.at(key);
            if (!equal(given.count(), sum)) {
                given.fail(
                    fmt::format("is {:.12g}, but the operators add up to {:.12g}", given.count(), sum));
            }
        };
        check("parameters", totals_.parameters);
        check("forward_flops", totals_.forward_flops);
        check("saved_numbers", totals_.saved_numbers);
        check("saved_bytes", totals_.saved_bytes);
    }

    const Node& root_;
    double tokens_ = 1.0;
    std::size_t operators_ = 0;
    Totals totals_;
};

}  // namespace

bool is_written_out(const std::string& captured) { return captured.starts_with('{'); }

CapturedNetwork parse_captured_network(const std::string& text, const std::string& path)
{
    json value;
    try {
        value = json::parse(text);
    } catch (const json::parse_error& error) {
        const std::string before = text.substr(0, error.byte);
        throw InputError(fmt::format("{}:{}: the file is truncated or not JSON; {}", path,
                                     1 + std::count(before.begin(), before.end(), '\n'), again));
    } catch (const json::exception&) {
        throw InputError(fmt::format("{}: the file contains a number that is too large; {}", path, again));
    }
    const Node root(value, "", path);
    CapturedNetwork captured = Reader(root).network();
    const auto empty = [](const LayerKind& kind) { return kind.operators.empty(); };
    if (std::all_of(captured.network.kinds.begin(), captured.network.kinds.end(), empty)) {
        throw InputError(
            fmt::format("{}: the network has no operators; capture a network that computes something", path));
    }
    return captured;
}

std::string with_captured_network(const std::string& text, const std::string& path)
{
    const TomlFile file = parse_toml(text, path);
    Table top(file.root, file);
    const auto workload = top.find("workload");
    if (!workload || !workload->is_table()) {
        return text;
    }
    const auto captured = workload->table("[workload]").find("captured");
    if (!captured || !captured->is_text() || is_written_out(captured->text("gpt.json"))) {
        return text;
    }
    const std::string name = captured->text("gpt.json");
    const std::string network = (std::filesystem::path(path).parent_path() / name).string();
    if (!std::filesystem::is_regular_file(network)) {
        captured->fail(
            {"does not exist", fmt::format("{} is not a file", network),
             "give a file written by jobs/capture_network.py, as a path relative to the scenario"});
    }
    const std::string json_text = read_text(network);
    parse_captured_network(json_text, network);  // whose messages name the file
    // A text of TOML in single quotes has no escapes and cannot hold one; in JSON they only stand in texts.
    const std::string written =
        std::regex_replace(json::parse(json_text).dump(-1, ' ', true), std::regex("'"), "\\u0027");
    return with_content(text, *captured, "captured", "'" + written + "'");
}

}  // namespace prismopt
