// Prints the p99 step time of a plan, in seconds: p99 SCENARIO DESIGN
#include "optimizer/api/prismopt.hpp"

#include <cstdio>

int main(int, char** arguments)
{
    const prismopt::Scenario scenario = prismopt::read_scenario(arguments[1]);
    const prismopt::PlanPrediction of = prismopt::predict(prismopt::plan_with(scenario, arguments[2]));
    std::printf("%.17g\n", of.prediction.step.p99.value);
}
