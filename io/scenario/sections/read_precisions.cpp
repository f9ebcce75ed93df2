#include "io/scenario/sections/sections.hpp"

#include "model/network/network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace prismopt {

namespace {

constexpr const char* choice_example =
    R"({ name = "nvfp4-ends", precision = "nvfp4", bf16_first = 2, bf16_last = 8 })";

void read_blocks(const Value& value, PrecisionChoice& choice)
{
    for (const Value& element : value.list("[\"attention\"]")) {
        std::string block = element.choice(wide_block_names(), "kinds of blocks");
        std::vector<std::string>& blocks = choice.wide.blocks;
        if (std::find(blocks.begin(), blocks.end(), block) != blocks.end()) {
            element.fail({"is listed twice", "each kind of block counts once", "remove one of the two"});
        }
        blocks.push_back(std::move(block));
    }
}

/// A name is one word of the label of a hardware variant.
void refuse_odd_name(Table& table, const PrecisionChoice& choice)
{
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    };
    if (!std::all_of(choice.name.begin(), choice.name.end(), plain)) {
        table.find("name")->fail({"is not one word", "it names the choice in results and in --design",
                                  "use letters, digits, '-', '_' and '.', as in \"nvfp4-ends\""});
    }
    if (parse<Precision>(choice.name)) {
        table.find("name")->fail(
            {"is the name of a precision", "it would name two choices", "write another name"});
    }
}

void refuse_idle_choice(Table& table, const PrecisionChoice& choice)
{
    if (!has_fewer_than_16_bits(choice.precision)) {
        table.find("precision")
            ->fail({"has no fewer than 16 bits", "layers in bf16 are exceptions to 8 or 4 bits",
                    fmt::format("list \"{}\" instead of the table", name(choice.precision))});
    }
    if (choice.wide == WideLayers{} && choice.attention == AttentionPrecision::bf16) {
        table.find("precision")
            ->fail({"has no exceptions", "no layers stay in bf16, as attention does",
                    fmt::format("add bf16_blocks, bf16_first, bf16_last or attention_precision = \"fp8\", or "
                                "list \"{}\" instead "
                                "of the table",
                                name(choice.precision))});
    }
}

/// NVIDIA/TransformerEngine, docs/envvars.rst, and its table of recipes: with scales of tensors
/// and of 32, not of 128 numbers.
void refuse_blockwise_attention(Table& table, const PrecisionChoice& choice)
{
    if (choice.attention == AttentionPrecision::fp8 && choice.precision == Precision::fp8_blockwise) {
        table.find("attention_precision")
            ->fail({"has no kernel", "attention in 8 bits takes no scales of blocks of 128",
                    "remove it, or write another kind of 8 bits in precision"});
    }
}

const Fields<PrecisionChoice>& choice_fields()
{
    constexpr Range first_range{"layers at the beginning of the network that stay in bf16", 0, 1e6, "2"};
    constexpr Range last_range{"layers at the end of the network that stay in bf16", 0, 1e6, "8"};
    static const auto fields = [&] {
        Fields<PrecisionChoice> all("precision of [space]",
                                    "a precision of which some linear layers stay in bf16");
        all.text("name", &PrecisionChoice::name, "nvfp4-ends", "name in results and in --design")
            .required()
            .choice("precision", &PrecisionChoice::precision, "nvfp4",
                    "precision of the products of the other linear layers")
            .required()
            .choice("attention_precision", &PrecisionChoice::attention, "fp8",
                    "precision of the products of fused attention")
            .custom({"bf16_blocks",
                     "kinds of blocks whose linear layers stay in bf16",
                     "[\"attention\"]",
                     {{.kind = ValueShape::Kind::choice, .names = wide_block_names, .list = true}}},
                    [](const Value& value, PrecisionChoice& choice, Keys) { read_blocks(value, choice); })
            .integer(
                "bf16_first", [](PrecisionChoice& c) -> int& { return c.wide.first; }, first_range)
            .integer(
                "bf16_last", [](PrecisionChoice& c) -> int& { return c.wide.last; }, last_range)
            .check(refuse_odd_name)
            .check(refuse_idle_choice)
            .check(refuse_blockwise_attention);
        return all;
    }();
    return fields;
}

/// Whether some layer has a block of this kind with linear layers.
bool has_products(const Workload& network, const std::string& kind)
{
    const ResidualStream stream{static_cast<double>(network.hidden), network.normalisation, network.norms,
                                network.drops()};
    const auto is_product = [](const Operator& op) {
        return std::holds_alternative<Linear>(op) || std::holds_alternative<GroupedLinear>(op) ||
               std::holds_alternative<Convolution>(op);
    };
    bool has = kind == prediction_modules && network.predictions > 0;
    network.for_blocks([&](const BlockDescription& block) {
        if (!has && kind_name(block) == kind) {
            const Block operators =
                std::visit([&stream](const auto& own) { return operators_of(own, stream); }, block);
            has = std::any_of(operators.begin(), operators.end(), is_product);
        }
    });
    return has;
}

bool attends_in_8_bits(const Network& network)
{
    const auto low = [](const Operator& op) {
        const auto* attention = std::get_if<Attention>(&op);
        return attention != nullptr && attention->low;
    };
    return std::any_of(network.layers.begin(), network.layers.end(), [&](int layer) {
        const std::vector<Operator>& operators = network.kinds[layer].operators;
        return std::any_of(operators.begin(), operators.end(), low);
    });
}

void refuse_unfit_choice(const PrecisionChoice& choice, const Value& place,
                         const std::vector<const Workload*>& networks)
{
    for (const std::string& kind : choice.wide.blocks) {
        if (std::none_of(networks.begin(), networks.end(),
                         [&](const Workload* of) { return has_products(*of, kind); })) {
            place.fail({fmt::format("names block \"{}\", which has no effect", kind),
                        fmt::format("{} has no such block with linear layers", networks.front()->name),
                        "remove it from bf16_blocks"});
        }
    }
    for (const Workload* network : networks) {
        if (network->captured) {
            place.fail({"has no effect", fmt::format("the operators of {} are as captured", network->name),
                        fmt::format("list \"{}\" instead of the table", name(choice.precision))});
        }
        const auto has = [network](const std::string& kind) { return has_products(*network, kind); };
        const WideLayers& wide = choice.wide;
        if (wide.first + wide.last == 0 && !wide.blocks.empty() &&
            std::none_of(wide.blocks.begin(), wide.blocks.end(), has)) {
            place.fail({fmt::format("is {} under another name for {}", name(choice.precision), network->name),
                        fmt::format("{} has no block {}", network->name, fmt::join(wide.blocks, " or ")),
                        "add blocks of it to bf16_blocks, or search the network alone"});
        }
        Workload trained = *network;
        trained.wide = choice.wide;
        trained.attention_precision = choice.attention;
        if (choice.attention == AttentionPrecision::fp8 && !attends_in_8_bits(network_of(trained))) {
            place.fail({"has attention_precision = \"fp8\", which has no effect",
                        fmt::format("{} has no fused attention outside of blocks in bf16", network->name),
                        "remove it from the table"});
        }
        if (!has_narrow_products(network_of(trained))) {
            place.fail({fmt::format("leaves no linear layer in {}", name(choice.precision)),
                        fmt::format("all {} layers of {} stay in bf16", network->layers(), network->name),
                        "keep fewer layers in bf16, or list \"bf16\" instead of the table"});
        }
    }
}

PrecisionChoice read_choice(const Value& element, const std::vector<const Workload*>& networks)
{
    if (!element.is_table()) {
        const std::string named =
            element.choice(enum_names<Precision>(), "precisions of linear layers",
                           fmt::format("describe layers that stay in bf16, as in {}", choice_example));
        return {named, *parse<Precision>(named)};
    }
    Table table = element.table(choice_example);
    PrecisionChoice choice;
    choice_fields().read_whole(table, Keys::all, choice);
    refuse_unfit_choice(choice, element, networks);
    return choice;
}

}  // namespace

KeyInfo precision_key()
{
    return {"precision",
            "precisions of the products of linear layers, whose effect on learning [numerics] states; "
            "default: that of the workload",
            "[\"fp8\"]",
            {{.kind = ValueShape::Kind::choice, .names = enum_names<Precision>, .list = true},
             {.kind = ValueShape::Kind::section,
              .section = []() -> const SectionTable& { return choice_fields(); },
              .list = true}}};
}

std::vector<PrecisionChoice> read_precisions(const Value& value, const std::vector<const Workload*>& networks)
{
    std::vector<PrecisionChoice> choices;
    for (const Value& element : value.list("[\"bf16\", \"fp8\"]")) {
        PrecisionChoice choice = read_choice(element, networks);
        const auto same = [&](const PrecisionChoice& other) { return other.name == choice.name; };
        const auto equal = [&](const PrecisionChoice& other) {
            return other.precision == choice.precision && other.wide == choice.wide &&
                   other.attention == choice.attention;
        };
        if (std::any_of(choices.begin(), choices.end(), same)) {
            element.fail({fmt::format("lists the name {} twice", choice.name), "reports name plans by it",
                          "remove one of the two, or rename it"});
        }
        if (std::any_of(choices.begin(), choices.end(), equal)) {
            element.fail({"is listed twice",
                          "another name has the same precision and the same layers in bf16",
                          "remove one of the two"});
        }
        choices.push_back(std::move(choice));
    }
    return choices;
}

}  // namespace prismopt
