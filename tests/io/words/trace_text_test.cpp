#include "io/words/trace_text.hpp"

#include <gtest/gtest.h>

namespace prismopt {
namespace {

TEST(TraceText, HasASentenceForEachReasonToExcludeRows)
{
    const auto because = [](FaultReason reason, const std::string& of = {}) {
        return Fault{.reason = reason, .of = of};
    };
    const std::pair<Fault, const char*> faults[] = {
        {because(FaultReason::negative_duration), "negative duration"},
        {because(FaultReason::longer_than_a_day), "duration of more than a day"},
        {because(FaultReason::negative_value, "tflops"), "negative tflops"},
        {because(FaultReason::absurd_for_its_kind, "send"),
         "duration above 100 times the median of send and above 10 times that of a step"},
        {because(FaultReason::absurd_for_its_series, "all_reduce, 256 bytes"),
         "a time above 100 times the median of all_reduce, 256 bytes and above 10 times the longest median"},
        {because(FaultReason::absurd_for_its_series),
         "a time above 100 times the median and above 10 times the longest median"},
        {because(FaultReason::before_the_first_step), "a kernel before the first step"},
        {because(FaultReason::no_start), "no start"},
        {because(FaultReason::single_rank), "a single rank (bus bandwidth 0), whose collectives are copies"},
        {because(FaultReason::planned_event), "planned events (maintenance, updates, tests)"},
        {because(FaultReason::listed_again),
         "outages that are listed again, with the node, start and end of another"},
        {because(FaultReason::caused_by_application), "Xids that applications cause (13, 31, 43, 45)"},
        {because(FaultReason::repeated_within_minutes),
         "Xids within five minutes after another of the same node"},
    };
    for (const auto& [fault, text] : faults) {
        EXPECT_EQ(fault_text(fault), text);
    }
}

TEST(TraceText, HasASentenceForEachProblem)
{
    Trace trace;
    trace.rows = "kernel";
    const auto text = [&trace](const auto& what) { return problem_text({.line = 7, .what = what}, trace); };
    EXPECT_EQ(
        text(JobsInOneFile{{0, 19, 0.010, 0.0125}, {1000, 1019, 0.020, 0.025}}),
        "operations of steps 1000 to 1019 take 20 to 25 ms, steps 0 to 19 10 to 12.5 ms (two jobs in one "
        "file?); put each job in its own file and calibrate one");
    EXPECT_EQ(text(OperationTwice{.operation = "send", .number = 3, .step = 5, .first_line = 2}),
              "send 3 of step 5 occurs twice for one worker, first in kernel 2 (two jobs in one file?); put "
              "each job in its own file and calibrate one");
    EXPECT_EQ(text(ClockRunsBackwards{.operation = "send", .number = 3, .step = 5, .number_before = 2}),
              "send 3 of step 5 starts before number 2 (the clock runs backwards); remove the worker or the "
              "step");
    EXPECT_EQ(text(ClockSetBack{.step = 5, .step_before = 4}),
              "step 5 starts before step 4 did (the clock was set back)");
    EXPECT_EQ(text(NoMicrobatch{"backward-compute", 1, 3}), "1 of 3 backward-compute have no microbatch");
}

}  // namespace
}  // namespace prismopt
