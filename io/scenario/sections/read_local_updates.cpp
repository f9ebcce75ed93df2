#include "io/scenario/scenario.hpp"
#include "io/scenario/sections/sections.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace prismopt {

namespace {

constexpr Range more_tokens_range{
    "tokens beyond those of synchronous training, to the same loss, as a share of them", 0, 100, "0.02"};
constexpr Range local_steps_range{"steps between two exchanges", 2, 10'000, "30"};
constexpr const char* more_tokens_example = "[{ local_steps = 30, share = 0.02 }]";

struct ShareOfSteps {
    int local_steps = 0;
    double share = 0.0;
};

const Fields<ShareOfSteps>& share_fields()
{
    static const auto fields =
        Fields<ShareOfSteps>("[[local_updates.more_tokens]]",
                             "tokens that local updates need, by the steps between two exchanges")
            .integer("local_steps", &ShareOfSteps::local_steps, local_steps_range)
            .required()
            .number("share", &ShareOfSteps::share, more_tokens_range)
            .required();
    return fields;
}

void read_more_tokens(const Value& value, LocalUpdatesPrice& price)
{
    if (!value.is_list()) {
        price.given.any_steps = value.number(more_tokens_range);
        return;
    }
    for (const Value& element : value.list(more_tokens_example)) {
        Table table = element.table("{ local_steps = 30, share = 0.02 }");
        ShareOfSteps share;
        share_fields().read_whole(table, Keys::all, share);
        if (!price.given.by_steps.emplace(share.local_steps, share.share).second) {
            table.find("local_steps")
                ->fail({"is listed twice", "each number of steps has one price", "remove one of the two"});
        }
    }
}

const Fields<LocalUpdatesPrice>& local_updates_fields()
{
    static const auto fields = [] {
        Fields<LocalUpdatesPrice> all(
            "[local_updates]",
            "what it costs that replicas in different buildings exchange only every few steps");
        const auto table_of_shares = []() -> const SectionTable& { return share_fields(); };
        all.custom({"loss_gap",
                    "\"published\": the increase of the loss in arXiv 2503.09799, converted to tokens "
                    "(docs/learning.md)",
                    "\"published\"",
                    {choice_shape([] { return std::vector<std::string>{"published"}; })}},
                   [](const Value& value, LocalUpdatesPrice& price, Keys) {
                       value.choice({"published"}, "sources of loss gaps", "give more_tokens = 0.02");
                       price.published = true;
                   })
            .custom({"more_tokens",
                     std::string(more_tokens_range.meaning) + "; or a list by local_steps",
                     "0.02",
                     {{.kind = ValueShape::Kind::number, .range = more_tokens_range},
                      {.kind = ValueShape::Kind::section, .section = table_of_shares, .list = true}}},
                    [](const Value& value, LocalUpdatesPrice& price, Keys) {
                        read_more_tokens(value, price);
                    });
        return all;
    }();
    return fields;
}

bool uses_local_updates(const Scenario& scenario)
{
    const std::vector<int>& steps = scenario.space.local_steps;
    return std::any_of(steps.begin(), steps.end(), [](int local) { return local > 1; });
}

/// One price, for what the space has.
void refuse_other_prices(Table& table, const LocalUpdatesPrice& price, const Scenario& scenario)
{
    const auto gap = table.find("loss_gap");
    const auto tokens = table.find("more_tokens");
    if (gap && tokens) {
        tokens->fail(
            {"cannot be combined with loss_gap", "both state the price in tokens", "remove one of the two"});
    }
    const Value stated =
        gap ? *gap : table.at("more_tokens", "more_tokens = 0.02, or loss_gap = \"published\"");
    if (!uses_local_updates(scenario)) {
        stated.fail({"has no effect", "[space] has no local_steps above 1",
                     "add local_steps = [1, 30] to [space], or remove it"});
    }
    for (const auto& [local, share] : price.given.by_steps) {
        const std::vector<int>& steps = scenario.space.local_steps;
        if (std::find(steps.begin(), steps.end(), local) == steps.end()) {
            stated.fail({fmt::format("has local_steps = {}, which has no effect", local),
                         "local_steps in [space] does not have it", "add it there, or remove it here"});
        }
    }
    for (const int local : scenario.space.local_steps) {
        if (local > 1 && !price.published && !price.given.any_steps &&
            !price.given.by_steps.contains(local)) {
            stated.fail({fmt::format("lacks local_steps = {}", local), "[space] has it, and it would be free",
                         fmt::format("add {{ local_steps = {}, share = ... }}", local)});
        }
    }
}

/// Buildings that never exchange would train several networks.
void refuse_more_steps_than_the_run(const Value& price, const Scenario& scenario)
{
    const int most = *std::max_element(scenario.space.local_steps.begin(), scenario.space.local_steps.end());
    if (const double steps = steps_of(scenario.phases); most > steps) {
        price.fail({fmt::format("does not cover local_steps = {}", most),
                    fmt::format("the run has {:.0f} steps", steps), "remove it from [space]"});
    }
}

void refuse_beyond_published(const Value& gap, const Scenario& scenario)
{
    const int most = *std::max_element(scenario.space.local_steps.begin(), scenario.space.local_steps.end());
    if (most > most_published_local_steps) {
        gap.fail({fmt::format("does not cover local_steps = {}", most),
                  fmt::format("the published runs have up to {} steps", most_published_local_steps),
                  "remove it from [space], or give more_tokens"});
    }
    if (most_buildings(scenario) > most_published_groups) {
        gap.fail({fmt::format("does not cover {} buildings", most_buildings(scenario)),
                  fmt::format("the published runs have up to {} groups of replicas", most_published_groups),
                  "use fewer GPUs, or give more_tokens"});
    }
}

}  // namespace

const SectionTable& local_updates_table() { return local_updates_fields(); }

void read_local_updates(Table table, Scenario& scenario)
{
    LocalUpdatesPrice& price = scenario.local_updates;
    local_updates_fields().read_whole(table, Keys::all, price);
    refuse_other_prices(table, price, scenario);
    refuse_more_steps_than_the_run(
        table.find("loss_gap") ? *table.find("loss_gap") : *table.find("more_tokens"), scenario);
    if (price.published) {
        refuse_beyond_published(*table.find("loss_gap"), scenario);
    }
}

}  // namespace prismopt
