/// Counts how often the program compiles a plan: linked with --wrap, which sends calls of
/// PlanCompiler::compile() from other files here.

#include "model/step/compile/plan_compiler.hpp"

#include <cstdio>

namespace {

int compilations = 0;

struct Report {
    ~Report() { std::fprintf(stderr, "compiled %d times\n", compilations); }
} report;

}  // namespace

using Compiled = std::variant<prismopt::CompiledPlan, prismopt::Infeasible>;

extern "C" {
Compiled __real__ZN8prismopt12PlanCompiler7compileERKNS_12ParallelPlanENS_10CompileForE(
    prismopt::PlanCompiler* compiler, const prismopt::ParallelPlan& plan, prismopt::CompileFor purpose);
Compiled __wrap__ZN8prismopt12PlanCompiler7compileERKNS_12ParallelPlanENS_10CompileForE(
    prismopt::PlanCompiler* compiler, const prismopt::ParallelPlan& plan, prismopt::CompileFor purpose)
{
    ++compilations;
    return __real__ZN8prismopt12PlanCompiler7compileERKNS_12ParallelPlanENS_10CompileForE(compiler, plan,
                                                                                          purpose);
}
}
