#include "io/words/infeasible_text.hpp"
#include "optimizer/python/bindings.hpp"

#include "io/base/input_error.hpp"
#include "optimizer/parallel/stop.hpp"
#include "optimizer/space/design_text.hpp"

#include <algorithm>
#include <array>
#include <exception>
#include <regex>
#include <string>
#include <string_view>
#include <utility>

namespace prismopt::python {

namespace {

/// The exceptions of the package, which the module keeps.
struct Exceptions {
    PyObject* wrong_input = nullptr;
    PyObject* degrees_do_not_fit = nullptr;
    PyObject* no_feasible_plan = nullptr;
    PyObject* infeasible_plan = nullptr;
};
Exceptions exceptions;

PyObject* new_exception(py::module_& module, const char* name, const char* text, PyObject* base)
{
    const std::string full_name = std::string("prismopt.") + name;
    PyObject* made = PyErr_NewExceptionWithDoc(full_name.c_str(), text, base, nullptr);
    if (made == nullptr) {
        throw py::error_already_set();
    }
    module.add_object(name, py::handle(made));
    return made;
}

struct ArgumentOfOption {
    std::string_view option;
    std::string_view argument;
};
/// Options of commands that messages of the library name, and the arguments that are them here.
constexpr std::array<ArgumentOfOption, 22> arguments{{{"draws", "draws"},
                                                      {"draw", "draw"},
                                                      {"orders", "orders"},
                                                      {"search-order", "search_order"},
                                                      {"faster", "faster"},
                                                      {"pairs", "pairs"},
                                                      {"only", "only"},
                                                      {"max-time", "max_time"},
                                                      {"target", "target"},
                                                      {"point", "number"},
                                                      {"phase", "phase"},
                                                      {"cover", "cover"},
                                                      {"most", "most"},
                                                      {"objective", "objective"},
                                                      {"changes", "most_changes"},
                                                      {"measured-step", "measured_step"},
                                                      {"measured-memory", "measured_memory"},
                                                      {"command", "command"},
                                                      {"gpus", "gpus"},
                                                      {"gpus-per-node", "gpus_per_node"},
                                                      {"accelerator", "accelerator"},
                                                      {"set", "values"}}};

/// A message that names options of commands, "--draws 0", with the names of arguments, "draws 0".
std::string of_arguments(const std::string& message)
{
    static const std::regex option("--([a-z][a-z-]*)");
    std::string text;
    auto rest = message.cbegin();
    for (std::sregex_iterator found(message.begin(), message.end(), option), end; found != end; ++found) {
        const std::string name = (*found)[1];
        const auto row = std::find_if(arguments.begin(), arguments.end(),
                                      [&](const auto& one) { return one.option == name; });
        if (row != arguments.end()) {
            text.append(rest, (*found)[0].first).append(row->argument);
            rest = (*found)[0].second;
        }
    }
    return text.append(rest, message.cend());
}

py::object text_or_none(const std::string& text)
{
    if (text.empty()) {
        return py::none();
    }
    return py::str(of_arguments(text));
}

void raise_wrong_input(PyObject* kind, const InputError& error)
{
    const py::object raised = py::reinterpret_borrow<py::object>(kind)(of_arguments(error.what()));
    raised.attr("file") = text_or_none(error.place().file);
    raised.attr("line") = py::none();
    if (error.place().line > 0) {
        raised.attr("line") = error.place().line;
    }
    raised.attr("reason") = of_arguments(error.reason().empty() ? error.what() : error.reason());
    raised.attr("remedy") = text_or_none(error.remedy());
    PyErr_SetObject(kind, raised.ptr());
}

void raise_infeasible_plan(const InfeasiblePlan& error)
{
    const py::object raised =
        py::reinterpret_borrow<py::object>(exceptions.infeasible_plan)(of_arguments(error.what()));
    raised.attr("reason") = error.why().category();
    raised.attr("detail") = detail_text(error.why());
    PyErr_SetObject(exceptions.infeasible_plan, raised.ptr());
}

void translate(std::exception_ptr thrown)
{
    try {
        std::rethrow_exception(std::move(thrown));
    } catch (const NoFeasiblePlan& error) {
        raise_wrong_input(exceptions.no_feasible_plan, error);
    } catch (const DegreesDoNotFit& error) {
        raise_wrong_input(exceptions.degrees_do_not_fit, error);
    } catch (const InputError& error) {
        raise_wrong_input(exceptions.wrong_input, error);
    } catch (const InfeasiblePlan& error) {
        raise_infeasible_plan(error);
    }
}

}  // namespace

void bind_errors(py::module_& module)
{
    exceptions.wrong_input = new_exception(
        module, "InputError",
        "An input is wrong. Members: file and line (None: not in a file), reason, and remedy (what to "
        "write instead, or None).",
        PyExc_ValueError);
    exceptions.degrees_do_not_fit =
        new_exception(module, "DegreesDoNotFit",
                      "Degrees of parallelism that the number of GPUs does not allow.",
                      exceptions.wrong_input);
    exceptions.no_feasible_plan = new_exception(
        module, "NoFeasiblePlan", "No plan of the space of a scenario is feasible.", exceptions.wrong_input);
    exceptions.infeasible_plan = new_exception(
        module, "InfeasiblePlan",
        "Only a feasible plan will do here. Members: reason and detail. Predictions of infeasible "
        "plans are no error.",
        PyExc_RuntimeError);
    py::register_exception_translator(translate);
}

}  // namespace prismopt::python
