#include "io/scenario/sections/block_fields.hpp"

#include <fmt/format.h>

#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

namespace prismopt {

namespace {

template <class Kind, class Value>
void add(const BlockKey<Kind, Value>& key, Fields<Kind>& fields)
{
    if constexpr (std::is_same_v<Value, bool>) {
        fields.flag(key.name, key.member, key.help);
    } else if constexpr (std::is_same_v<Value, int>) {
        fields.integer(key.name, key.member, {key.help, key.low, key.high, key.example});
    } else if constexpr (std::is_same_v<Value, double>) {
        fields.number(key.name, key.member, {key.help, key.low, key.high, key.example});
    } else {
        fields.choice(key.name, key.member, key.example, key.help);
    }
    if (key.required) {
        fields.required();
    }
}

template <class Kind>
const Fields<Kind>& fields_of()
{
    static const auto fields = [] {
        Fields<Kind> result("block " + std::string(Kind::name), std::string(Kind::help));
        result.custom({"block",
                       "kind of block",
                       in_quotes(Kind::name),
                       {choice_shape([] { return std::vector<std::string>{std::string(Kind::name)}; })},
                       Need::required},
                      [](const Value&, Kind&, Keys) {});
        std::apply([&result](const auto&... key) { (add(key, result), ...); }, Kind::keys);
        return result;
    }();
    return fields;
}

template <class Kind>
const SectionTable& section_of()
{
    return fields_of<Kind>();
}

/// Calls visit(kind) for each kind of block, in order, with an empty one.
template <class Visit, std::size_t... index>
void for_kinds(Visit&& visit, std::index_sequence<index...>)
{
    (visit(std::variant_alternative_t<index, BlockDescription>{}), ...);
}
template <class Visit>
void for_kinds(Visit&& visit)
{
    for_kinds(std::forward<Visit>(visit), std::make_index_sequence<std::variant_size_v<BlockDescription>>{});
}

void refuse(Table& table, std::string_view key, const Complaint& complaint)
{
    const auto place = table.find(key);
    place ? place->fail(complaint) : table.fail(complaint);
}

void check_heads(Table& table, int heads, int key_heads, int head, double hidden)
{
    if (head == 0 && static_cast<int>(hidden) % heads != 0) {
        refuse(table, "heads",
               {fmt::format("gives {} attention heads for a hidden size of {}", heads, hidden),
                "heads must divide hidden", "change one of the two, or give the head dimension"});
    }
    if (heads % key_heads != 0) {
        refuse(table, "kv_heads",
               {fmt::format("gives {} key/value heads for {} attention heads", key_heads, heads),
                "kv_heads must divide heads", fmt::format("write kv_heads = {} or a divisor", heads)});
    }
}

void check(Table& table, const AttentionBlock& block, double hidden)
{
    check_heads(table, block.heads, block.key_heads(), block.head, hidden);
    for (const auto& [value, key] : {std::pair{block.chunk, "chunk"}, {block.context, "context"}}) {
        if (block.window > 0 && value > 0) {
            refuse(table, key,
                   {"cannot be combined with window",
                    "a query attends to a window, a chunk, or another sequence", "remove one of the two"});
        }
    }
    if (block.chunk > 0 && block.context > 0) {
        refuse(table, "chunk",
               {"cannot be combined with context", "a query attends to a chunk or to another sequence",
                "remove one of the two"});
    }
    if (block.context == 0 && block.context_width > 0) {
        refuse(table, "context_width",
               {"needs context", "it is the hidden size of the other sequence",
                "give context, or remove it"});
    }
}

void check(Table& table, const ExpertsBlock& block, double /*hidden*/)
{
    if (block.active > block.count) {
        refuse(table, "active",
               {fmt::format("gives {} active of {} experts", block.active, block.count),
                "a token is routed to some of them", fmt::format("write active = {} or less", block.count)});
    }
    if (block.shared_gate && block.shared == 0) {
        refuse(table, "shared_gate",
               {"has no effect", "it scales the output of shared experts, and the block has none",
                "give shared, or remove shared_gate"});
    }
}

void check(Table& table, const Mamba2Block& block, double /*hidden*/)
{
    if (block.heads % block.groups != 0) {
        refuse(table, "groups",
               {fmt::format("gives {} groups for {} heads", block.groups, block.heads),
                "groups must divide heads", "change one of the two"});
    }
}

void check(Table& table, const GatedDeltaBlock& block, double /*hidden*/)
{
    if (block.value_heads % block.key_heads != 0) {
        refuse(table, "value_heads",
               {fmt::format("gives {} value heads for {} key heads", block.value_heads, block.key_heads),
                "key_heads must divide value_heads", "change one of the two"});
    }
}

void check(Table& table, const InteractionBlock& block, double /*hidden*/)
{
    if ((block.layers > 0) != (block.rank > 0)) {
        refuse(table, block.layers > 0 ? "layers" : "rank",
               {"needs both layers and rank", "cross layers have both, dot products of all pairs neither",
                "give both or neither"});
    }
}

void check(Table& table, const LinearBlock& block, double /*hidden*/)
{
    if (table.find("activation") && !block.activated) {
        refuse(table, "activation",
               {"has no effect", "no activation function follows this linear layer",
                "write activated = true as well, or remove activation"});
    }
    if (block.activated &&
        (block.activation == Activation::swiglu || block.activation == Activation::geglu)) {
        refuse(table, "activation",
               {"is gated", "a single linear layer has no gate projection", "use block = \"mlp\""});
    }
}

template <class Kind>
void check(Table& /*table*/, const Kind& /*block*/, double /*hidden*/)
{
}

}  // namespace

std::vector<ValueShape> block_shapes()
{
    std::vector<ValueShape> shapes;
    for_kinds([&shapes]<class Kind>(const Kind&) {
        shapes.push_back({.kind = ValueShape::Kind::section, .section = section_of<Kind>, .list = true});
    });
    return shapes;
}

std::vector<std::string> branching_blocks()
{
    std::vector<std::string> names;
    for_kinds([&names]<class Kind>(const Kind&) {
        if constexpr (branches<Kind>()) {
            names.emplace_back(Kind::name);
        }
    });
    return names;
}

BlockDescription read_block(const Value& value, double hidden, const std::string& layer)
{
    constexpr auto example = R"({ block = "mlp", inner = 14336, activation = "swiglu" })";
    Table table = value.table(example);
    table.call(fmt::format("a block of layer \"{}\"", layer));
    std::vector<std::string> names;
    for_kinds([&names]<class Kind>(const Kind&) { names.emplace_back(Kind::name); });
    const std::string kind = table.at("block", R"(block = "mlp")").choice(names, "kinds of blocks");
    table.call(fmt::format("block \"{}\" in layer \"{}\"", kind, layer));
    BlockDescription result;
    for_kinds([&]<class Kind>(Kind block) {
        if (kind == Kind::name) {
            fields_of<Kind>().read_whole(table, Keys::all, block);
            check(table, block, hidden);
            result = block;
        }
    });
    return result;
}

}  // namespace prismopt
