# Shows that layers.cmake finds each kind of offence in a small tree, and none in a clean one.
# Usage: cmake -DCHECK=<layers.cmake> -DSCRATCH=<directory> -P layers_test.cmake

# Writes `line` into `file` of an otherwise clean tree, and further lines into further files (pairs at the end); the check must say
# `expected`, or pass when that is empty.
function(expect name file line expected)
  set(tree ${SCRATCH}/${name})
  file(REMOVE_RECURSE ${tree})
  file(WRITE ${tree}/model/plan.hpp "#include <vector>\n\nstruct Plan {\n    int tp = 1\;\n}\;\n")
  file(WRITE ${tree}/search/space.cpp "#include \"search/space.hpp\"\n\n#include \"model/base/estimate.hpp\"\n")
  file(WRITE ${tree}/io/toml/toml.cpp "#include \"model/plan/plan.hpp\"\n#include <toml++/toml.h>\n")
  file(WRITE ${tree}/optimizer/parallel/communicator.cpp "#include <mpi.h>\n")
  set(lines ${file} "${line}" ${ARGN})
  while(lines)
    list(POP_FRONT lines more content)
    file(APPEND ${tree}/${more} "${content}\n")
  endwhile()
  execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${tree} -P ${CHECK} RESULT_VARIABLE status ERROR_VARIABLE said OUTPUT_QUIET)
  string(REGEX REPLACE "[ \n]+" " " said "${said}")
  string(FIND "${said}" "${expected}" found)
  if(expected STREQUAL "" AND NOT status EQUAL 0)
    message(SEND_ERROR "${name}: a clean tree was refused: ${said}")
  elseif(NOT expected STREQUAL "" AND (status EQUAL 0 OR found EQUAL -1))
    message(SEND_ERROR "${name}: expected \"${expected}\", got status ${status} and \"${said}\"")
  endif()
endfunction()

expect(clean model/plan/plan.hpp "// #include <mpi.h>" "")
expect(allowed io/scenario/scenario.hpp "#include \"search/space.hpp\"" "")
expect(openmp_allowed model/base/parallel.cpp "#pragma omp parallel for" "")

expect(upwards model/plan/plan.hpp "#include \"search/space.hpp\""
  "model/plan/plan.hpp includes search/space.hpp: model may not know it")
expect(upwards_search search/space.cpp "#  include \"io/scenario/scenario.hpp\""
  "search/space.cpp includes io/scenario/scenario.hpp: search may not know it")
expect(upwards_angle io/scenario/scenario.hpp "#include <optimizer/options.hpp>"
  "io/scenario/scenario.hpp includes optimizer/options.hpp: io may not know it")
expect(search_sees_training search/space.cpp "#include \"model/plan/plan.hpp\""
  "search/space.cpp includes model/plan/plan.hpp: search may not know it")
expect(inside_model_upwards model/network/calls.hpp "#include \"model/schedule/program.hpp\""
  "model/network/calls.hpp includes model/schedule/program.hpp: the sub-folder of model comes later")
expect(inside_model_top model/run/histories.hpp "#include \"model/predictor.hpp\""
  "model/run/histories.hpp includes model/predictor.hpp: the sub-folder of model comes later")
expect(inside_model_deep model/step/compile/memory.hpp "#include \"model/calibration/fit/fit_distribution.hpp\"" "comes later")
expect(inside_model_unknown model/extra/plan.hpp "#include \"model/base/units.hpp\"" "model/extra has no place in the order")
expect(inside_model_allowed model/network/calls.hpp "#include \"model/hardware/collective.hpp\"" "")
expect(inside_search_upwards search/components/race.hpp "#include \"search/strategies/exact/exact.hpp\""
  "search/components/race.hpp includes search/strategies/exact/exact.hpp: the sub-folder of search comes later")
expect(inside_search_allowed search/strategies/exact/exact.hpp "#include \"search/strategy.hpp\"" "")
expect(inside_io_upwards io/scenario/learned.hpp "#include \"io/results/results.hpp\""
  "io/scenario/learned.hpp includes io/results/results.hpp: the sub-folder of io comes later")
expect(inside_io_top io/toml/toml.cpp "#include \"io/other.hpp\"" "io/top has no place in the order")
expect(inside_optimizer_upwards optimizer/study/evaluator.hpp "#include \"optimizer/commands/output.hpp\""
  "optimizer/study/evaluator.hpp includes optimizer/commands/output.hpp: the sub-folder of optimizer comes later")
expect(commands_see_model optimizer/commands/predict.cpp "#include \"model/plan/plan.hpp\"" "commands and the Python module may not know it")
expect(the_python_module_sees_model optimizer/python/plans.cpp "#include \"model/plan/plan.hpp\"" "commands and the Python module may not know it")
expect(library_needs_json optimizer/api/prismopt.hpp "#include \"io/base/a.hpp\"" "leads to <nlohmann/json.hpp>"
  io/base/a.hpp "#include <vector>\n#include <nlohmann/json.hpp>")
expect(library_alone optimizer/api/prismopt.hpp "#include \"io/base/a.hpp\"\n#include <vector>" "" io/base/a.hpp "#include <string>")
expect(inside_optimizer_generated optimizer/program/release.cpp "#include \"optimizer/program/version.hpp\"" "")
expect(circle_of_two model/step/graph/step.hpp "#include \"model/step/sample/draw.hpp\"" "in a circle"
  model/step/sample/draw.hpp "#include \"model/step/graph/step.hpp\"")
expect(circle_of_three io/scenario/files/nodes.cpp "#include \"io/scenario/scenario.hpp\"" "in a circle"
  io/scenario/scenario.cpp "#include \"io/scenario/sections/sections.hpp\"" io/scenario/sections/tables.cpp "#include \"io/scenario/files/nodes.hpp\"")
expect(no_circle io/scenario/sections/sections.hpp "#include \"io/scenario/scenario.hpp\"" ""
  io/scenario/reading/read.cpp "#include \"io/scenario/sections/sections.hpp\"" io/scenario/reading/more.cpp "#include \"io/scenario/scenario.hpp\"")
expect(relative model/plan/plan.hpp "#include \"../search/space.hpp\"" "write the path from the root")
expect(same_folder model/plan/plan.hpp "#include \"units.hpp\"" "write the path from the root")
expect(second_mpi optimizer/main.cpp "#include <mpi.h>"
  "optimizer/main.cpp includes mpi.h: only optimizer/parallel/communicator.cpp may")
expect(second_hdf5 io/report/report.cpp "#include <hdf5_hl.h>" "only io/results/hdf5_file.cpp may")
expect(second_nlopt search/space.cpp "#include <nlopt.hpp>" "only search/strategies/nlopt_search.cpp may")
expect(second_toml io/scenario/reading/read_scenario.cpp "#include <toml++/toml.h>" "only io/toml/toml.cpp may")
expect(openmp search/space.cpp "  #pragma omp simd" "search/space.cpp uses OpenMP: only model/base/parallel.cpp may")
expect(in_subfolder model/network/ring.cpp "#include <mpi.h>" "model/network/ring.cpp includes mpi.h")
expect(other_type search/space.hpp "struct Plane {" "")
expect(second_type search/space.hpp "class Plan final : public Space {" "both define Plan")

execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${SCRATCH}/nothing -P ${CHECK} RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(status EQUAL 0)
  message(SEND_ERROR "a tree without sources passed")
endif()
