#include "io/base/control_characters.hpp"
#include "io/base/input_error.hpp"
#include "io/base/shell_word.hpp"
#include "optimizer/api/imports.hpp"
#include "optimizer/commands/chosen_job.hpp"
#include "optimizer/commands/command.hpp"
#include "optimizer/commands/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

namespace prismopt {

namespace po = boost::program_options;

namespace {

using Texts = std::vector<std::string>;

/// The comment above the scenario.
std::string heading(const ImportRequest& request, const JobImport& of, const std::string& out)
{
    Texts names;
    for (const JobFile& file : request.files) {
        names.push_back(escape_controls(std::filesystem::path(file.path).filename().string()));
    }
    return fmt::format(
        "# Imported from {} ({}). The plan of the job:\n#\n#   prismopt predict {} --design \"{}\"\n#\n",
        fmt::join(names, ", "), of.job.format, shell_word(out), of.design);
}

}  // namespace

int import_command(const Texts& words, const Call& call)
{
    po::options_description options("Options");
    add_job_options(options);
    options.add_options()("out,o", po::value<std::string>()->value_name("FILE"),
                          "scenario to write; an existing file is not overwritten (default: the name of the "
                          "first FILE with .toml)")(
        "all", po::bool_switch(),
        "also list each setting that changes neither time nor memory, with its line")(
        "json", po::bool_switch(), "print one JSON object instead, and write nothing");
    add_catalog_option(options);
    const auto values = parse_options("import", options, {"FILE", -1}, words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const std::string given = values->count("out") > 0 ? (*values)["out"].as<std::string>() : "";
    ImportRequest request = job_request(*values);
    if (!given.empty()) {
        request.name = study_name(given);
    }
    const JobImport of = import_job(request, catalogs_of(*values));
    if ((*values)["json"].as<bool>()) {
        fmt::print("{}", import_json(of));
        return exit_done;
    }
    const std::string out = given.empty() ? request.name + ".toml" : given;
    if (std::filesystem::exists(out)) {
        throw InputError(
            fmt::format("{} already exists and is not overwritten; name another file with --out FILE",
                        escape_controls(out)));
    }
    write_output("out", out, heading(request, of, out) + of.text, {});
    fmt::print(
        "{}\n{}: {} as a scenario\nnext: prismopt predict {} --design \"{}\"\n      prismopt search {}\n",
        import_text(of, (*values)["all"].as<bool>()), out, of.job.format, shell_word(out), of.design,
        shell_word(out));
    return exit_done;
}

}  // namespace prismopt
