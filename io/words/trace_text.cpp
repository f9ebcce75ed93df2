#include "io/words/trace_text.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace prismopt {

namespace {

std::string steps_text(const StepsOfJob& steps) { return fmt::format("{} to {}", steps.first, steps.last); }

std::string times_text(const StepsOfJob& steps)
{
    return fmt::format("{:.4g} to {:.4g} ms", 1e3 * steps.low_s, 1e3 * steps.high_s);
}

struct ProblemWords {
    const Trace& trace;

    std::string operator()(const JobsInOneFile& jobs) const
    {
        return fmt::format(
            "operations of steps {} take {}, steps {} {} (two jobs in one file?); put each job in its own "
            "file "
            "and calibrate one",
            steps_text(jobs.after), times_text(jobs.after), steps_text(jobs.before), times_text(jobs.before));
    }
    std::string operator()(const OperationTwice& twice) const
    {
        return fmt::format(
            "{} {} of step {} occurs twice for one worker, first in {} {} (two jobs in one file?); put each "
            "job in its own file and calibrate one",
            twice.operation, twice.number, twice.step, trace.rows, twice.first_line);
    }
    std::string operator()(const ClockRunsBackwards& early) const
    {
        return fmt::format(
            "{} {} of step {} starts before number {} (the clock runs backwards); remove the worker or the "
            "step",
            early.operation, early.number, early.step, early.number_before);
    }
    std::string operator()(const ClockSetBack& early) const
    {
        return fmt::format("step {} starts before step {} did (the clock was set back)", early.step,
                           early.step_before);
    }
    std::string operator()(const NoMicrobatch& kind) const
    {
        return fmt::format("{} of {} {} have no microbatch", kind.without, kind.all, kind.operation);
    }
};

}  // namespace

std::string fault_text(const Fault& fault)
{
    switch (fault.reason) {
        case FaultReason::negative_duration: return "negative duration";
        case FaultReason::longer_than_a_day: return "duration of more than a day";
        case FaultReason::negative_value: return "negative " + fault.of;
        case FaultReason::absurd_for_its_kind:
            return fmt::format("duration above 100 times the median of {} and above 10 times that of a step",
                               fault.of);
        case FaultReason::absurd_for_its_series:
            return fmt::format("a time above 100 times the median{} and above 10 times the longest median",
                               fault.of.empty() ? "" : " of " + fault.of);
        case FaultReason::before_the_first_step: return "a kernel before the first step";
        case FaultReason::no_start: return "no start";
        case FaultReason::single_rank: return "a single rank (bus bandwidth 0), whose collectives are copies";
        case FaultReason::planned_event: return "planned events (maintenance, updates, tests)";
        case FaultReason::listed_again:
            return "outages that are listed again, with the node, start and end of another";
        case FaultReason::caused_by_application: return "Xids that applications cause (13, 31, 43, 45)";
        case FaultReason::repeated_within_minutes:
            return "Xids within five minutes after another of the same node";
    }
    throw std::logic_error("a reason to exclude rows has no words");
}

std::string problem_text(const TraceProblem& problem, const Trace& trace)
{
    return std::visit(ProblemWords{trace}, problem.what);
}

}  // namespace prismopt
