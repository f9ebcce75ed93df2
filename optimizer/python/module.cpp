#include "optimizer/python/bindings.hpp"

#include "optimizer/program/release.hpp"

PYBIND11_MODULE(_core, module)
{
    using namespace prismopt::python;

    module.doc() = "The library of prismopt. Use the package prismopt, which is made of it.";
    module.attr("version") = prismopt::program_name();
    bind_errors(module);
    bind_scenarios(module);
    bind_plans(module);
    bind_plan_tables(module);
    bind_searches(module);
    bind_results(module);
    bind_jobs(module);
}
