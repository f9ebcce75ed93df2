#include "io/report/outcome_text.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <optional>
#include <string>

namespace prismopt {
namespace {

Outcome exact_outcome()
{
    return {.complete = true,
            .proved = true,
            .confidence = 0.95,
            .feasible = 4096,
            .drawn = 12,
            .pruned = 4084,
            .evaluated = 12};
}

TEST(OutcomeText, OfAProof)
{
    Outcome outcome = exact_outcome();
    EXPECT_EQ(outcome_text(outcome, "exact"),
              "proved complete: 4,096 feasible plans, 4,084 excluded by their lower bounds, 12 evaluated "
              "(confidence 95 %)");
    outcome.unchecked = 1000;
    EXPECT_EQ(outcome_text(outcome, "exact"),
              "proved complete: 1,000 combinations excluded before it was known whether they are feasible; "
              "of the others 4,096 "
              "feasible plans, 4,084 excluded by their lower bounds, 12 evaluated (confidence 95 %)");
    EXPECT_EQ(outcome_text({.complete = true, .proved = true}, "exact"), "no feasible point");
}

TEST(OutcomeText, OfABoundThatDrawsContradict)
{
    Outcome outcome = exact_outcome();
    outcome.proved = false;
    outcome.violation =
        BoundViolation{.point = 7, .objective = 1, .bound = 10.0, .high = 8.0, .relative = 0.2};
    EXPECT_EQ(outcome_text(outcome, "exact"),
              "complete but not proved: 4,096 feasible plans, 4,084 excluded by their lower bounds, 12 "
              "evaluated (confidence 95 %); "
              "bound violated: point 7, objective 1: upper confidence limit 8 lies 20 % below the lower "
              "bound 10, so points may have "
              "been excluded by mistake");
}

TEST(OutcomeText, OfASearchThatIsNotComplete)
{
    Outcome outcome{
        .confidence = 0.975, .feasible = 50, .drawn = 8, .pruned = 20, .evaluated = 5, .open = 25};
    outcome.uncovered = SweepProgress{SweepPurpose::front, 3, 1024};
    const std::string counts =
        "50 feasible plans, 20 excluded by their lower bounds, 5 evaluated, 25 open (3 of them partly "
        "evaluated) (confidence "
        "97.5 %)";
    EXPECT_EQ(outcome_text(outcome, "exact"), "incomplete: 3 of 1,024 parts of the space checked, " + counts);
    outcome.sweep = SweepProgress{SweepPurpose::better, 2, 9};
    EXPECT_EQ(outcome_text(outcome, "exact"),
              "incomplete: 2 of 9 parts of the space checked for better plans than those drawn, 3 of 1,024 "
              "parts of the space "
              "checked, " +
                  counts);
    outcome.uncovered.reset();
    outcome.sweep = SweepProgress{SweepPurpose::incomplete, 2, 9};
    outcome.end = SearchEnd::most_drawn;
    EXPECT_EQ(outcome_text(outcome, "exact"),
              "incomplete: 7 parts to check again, " + counts + "; stopped at the limit of 8 evaluations");
}

TEST(OutcomeText, OfSearchesWithoutProof)
{
    Outcome outcome{
        .method = SearchMethod::halving, .complete = true, .feasible = 30, .drawn = 20, .on_front = 4};
    EXPECT_EQ(outcome_text(outcome, "racing"),
              "successive halving, without proof: 30 feasible plans, 20 evaluated, 4 on the front; plans "
              "with worse lower bounds "
              "were not evaluated");
    outcome.complete = false;
    EXPECT_EQ(
        outcome_text(outcome, "racing"),
        "incomplete: successive halving, without proof: 30 feasible plans, 20 evaluated, 4 on the front");

    outcome = {.method = SearchMethod::random,
               .complete = true,
               .end = SearchEnd::nothing_new,
               .checked = 9,
               .drawn = 7,
               .on_front = 2};
    EXPECT_EQ(outcome_text(outcome, "random"),
              "random search, without proof: 9 plans that the rules of the space allow, 7 evaluated, 2 on "
              "the front; no further "
              "plans were found");

    outcome = {.method = SearchMethod::evolution,
               .complete = true,
               .checked = 90,
               .feasible = 40,
               .drawn = 30,
               .on_front = 3,
               .pruned = 6};
    const std::string found =
        "evolutionary search (nsga3), without proof: 90 plans checked, 40 of them feasible, 6 excluded by "
        "their lower bounds, 30 "
        "evaluated, 3 on the front";
    EXPECT_EQ(outcome_text(outcome, "nsga3"), found);
    outcome.end = SearchEnd::most_drawn;
    EXPECT_EQ(outcome_text(outcome, "nsga3"),
              found + "; stopped because the limit of 30 evaluations was reached");
    outcome.end = SearchEnd::no_gain;
    outcome.idle_batches = 60;
    EXPECT_EQ(outcome_text(outcome, "nsga3"),
              found + "; stopped because the last 60 batches brought no improvement");
    outcome.end = SearchEnd::nothing_new;
    EXPECT_EQ(outcome_text(outcome, "nsga3"), found + "; stopped because all children were already known");
}

TEST(ChoiceText, HasASentenceForEachReason)
{
    const auto text = [](ChoiceReason reason, bool of_space_part = false) {
        return choice_text(
            {.choice = reason, .of_space_part = of_space_part, .tuples = 1617, .objectives = 2});
    };
    EXPECT_EQ(text(ChoiceReason::compares_alternatives),
              "1,617 combinations of values, and lower bounds of their best plans compare machines");
    EXPECT_EQ(text(ChoiceReason::few_objectives),
              "1,617 combinations of values are too many to check all feasible ones; 2 objectives: crowding "
              "distance");
    EXPECT_EQ(
        text(ChoiceReason::many_objectives),
        "1,617 combinations of values are too many to check all feasible ones; 2 objectives: niches along "
        "reference directions");
    EXPECT_EQ(
        text(ChoiceReason::no_bounds),
        "1,617 combinations of values can all be checked, but no objective has a lower bound that could "
        "exclude plans before they are evaluated");
    EXPECT_EQ(text(ChoiceReason::all_bounded),
              "1,617 combinations of values can all be checked, and lower bounds exclude most plans before "
              "they are evaluated");
    EXPECT_EQ(text(ChoiceReason::some_unbounded, true),
              "parts can be merged if all their combinations are checked; an objective without a lower bound "
              "keeps all feasible plans until they are evaluated");
}

Results some_results()
{
    Results results;
    results.objectives = {{.name = "cost", .units = "USD", .long_name = "cost"},
                          {.name = "memory", .units = "byte", .long_name = "memory"}};
    results.study.stopped_by = "SIGTERM";
    results.study.outcome_text = "incomplete: 5 plans";
    return results;
}

TEST(OutcomeText, OfASearchThatWasStopped)
{
    Results results = some_results();
    EXPECT_EQ(stopped_text(results, "f.h5"),
              "stopped by SIGTERM; incomplete: 5 plans; continue with: prismopt resume f.h5");
    results.study.outcome.gaps = {{.limit = 2.0, .bound = 1.5}, {.limit = INFINITY, .bound = 1.0}};
    EXPECT_EQ(stopped_text(results, "f.h5"),
              "stopped by SIGTERM; incomplete: 5 plans; no plan is better than the best one found by more "
              "than this: cost 25.00 %, memory unknown; continue with: prismopt resume f.h5");
    EXPECT_EQ(stopped_tuning_text("SIGTERM", "tuning: 3 evaluations", "f.h5"),
              "stopped by SIGTERM; tuning: 3 evaluations; the search has not started, so there are no "
              "results; continue with: prismopt resume f.h5");
}

TEST(OutcomeText, OfAnEmptyFront)
{
    Results results = some_results();
    EXPECT_EQ(empty_front_text(results),
              "the front is empty: SIGTERM stopped the search before a plan was evaluated; continue it with "
              "prismopt resume");
    results.study.stopped_by.clear();
    EXPECT_EQ(empty_front_text(results),
              "the front is empty: the study has no feasible plan (prismopt report has the reasons)");
}

TEST(OutcomeText, OfSpaceParts)
{
    EXPECT_EQ(no_plan_text(2, 3), "proved complete: no feasible plan in part 2 of 3 of the space");
    Results merged = some_results();
    merged.raw_tuples = 100;
    merged.feasible = 40;
    merged.rejected.emplace_back();
    merged.rejected.back().count = 50;
    merged.study.space_parts = 2;
    merged.study.held = {1, 2};
    merged.study.outcome = {.confidence = 0.9, .pruned = 30, .open = 4, .unchecked = 9};
    const std::string counts =
        " of 100 combinations of values, 40 feasible plans, 30 excluded by their lower bounds, 4 open "
        "(confidence 90 %)";
    EXPECT_EQ(merged_text(merged), "incomplete: parts 1,2 of 2 with 99" + counts);
    merged.study.outcome.unchecked = 10;
    EXPECT_EQ(merged_text(merged), "merged: parts 1,2 of 2 with 100" + counts);
    merged.study.outcome.proved = true;
    EXPECT_EQ(merged_text(merged), "proved complete: parts 1,2 of 2 with 100" + counts);
}

TEST(OutcomeText, OfPlansThatMayNotFit)
{
    EXPECT_EQ(not_searched_text("nsga2"), "not searched: strategy nsga2 checks only some plans");
    EXPECT_EQ(may_not_fit_text(std::nullopt, true), "none to search");
    const Outcome outcome{.evaluated = 1200, .open = 3};
    EXPECT_EQ(may_not_fit_text(outcome, true), "proved complete, 1,200 evaluated");
    EXPECT_EQ(may_not_fit_text(outcome, false), "not proved complete, 1,200 evaluated, 3 open");
    MayNotFit list;
    list.evaluated = 7;
    EXPECT_EQ(merged_may_not_fit_text(list), "not proved complete in each part, 7 evaluated");
}

}  // namespace
}  // namespace prismopt
