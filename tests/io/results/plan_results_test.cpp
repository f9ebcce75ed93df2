#include "io/results/plan_results.hpp"

#include <gtest/gtest.h>

#include <set>
#include <stdexcept>
#include <string>

namespace prismopt {
namespace {

using Quantiles = std::vector<double>;
using Name = std::string_view;

/// `use(row)` for each row that an output has.
template <class Use>
void for_each_row(bool Outputs::*output, const Use& use)
{
    for (const auto& row : plan_results<Estimate>(output)) {
        use(row);
    }
    for (const auto& row : plan_results<double>(output)) {
        use(row);
    }
    for (const auto& row : plan_results<Quantiles>(output)) {
        use(row);
    }
}

std::multiset<Name> names_in(bool Outputs::*output)
{
    std::multiset<Name> names;
    for_each_row(output, [&](const auto& row) { names.insert(row.name); });
    return names;
}

TEST(PlanResultTable, NamesAreUniqueAndEachHasAUnitAndAMeaning)
{
    const std::set<Name> units{"1", "s", "s-1", "B", "TFLOP/s", "USD", "USD/h", "W", "J", "kg"};
    for (const auto output : {&Outputs::study, &Outputs::predict, &Outputs::phase}) {
        const std::multiset<Name> names = names_in(output);
        for_each_row(output, [&](const auto& row) {
            EXPECT_EQ(names.count(row.name), 1U) << row.name;
            EXPECT_TRUE(units.contains(row.units)) << row.name;
            EXPECT_FALSE(row.long_name.empty()) << row.name;
        });
    }
}

TEST(PlanResultTable, EachRowIsAnotherMember)
{
    PlanResults results;
    std::set<const void*> members;
    std::set<Name> names;
    for (const auto output : {&Outputs::study, &Outputs::predict}) {
        for_each_row(output, [&](const auto& row) {
            auto& member = row.of(results);
            EXPECT_EQ(&member, &row.of(static_cast<const PlanResults&>(results))) << row.name;
            EXPECT_EQ(members.insert(&member).second, names.insert(row.name).second) << row.name;
        });
    }
}

/// A phase is a part of what `predict` prints, and follows its names.
TEST(PlanResultTable, PhasesHaveOnlyWhatPredictHas)
{
    const std::multiset<Name> predicted = names_in(&Outputs::predict);
    for (const Name name : names_in(&Outputs::phase)) {
        EXPECT_TRUE(predicted.contains(name)) << name;
    }
}

TEST(PlanResultTable, FindsARowByItsNameAndKind)
{
    EXPECT_EQ(plan_result<double>("mfu").name, "mfu");
    EXPECT_EQ(plan_result<Estimate>("cost").units, "USD");
    EXPECT_THROW(plan_result<double>("cost"), std::logic_error);
    EXPECT_THROW(plan_result<Estimate>("mfu"), std::logic_error);
}

}  // namespace
}  // namespace prismopt
