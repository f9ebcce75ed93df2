#include "optimizer/commands/command.hpp"
#include "optimizer/program/release.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace po = boost::program_options;

namespace {

/// Escapes text for roff: no line begins with a control character, and minus signs can be copied.
std::string roff(const std::string& text)
{
    std::string safe;
    bool begins = true;
    for (const char c : text) {
        if (begins && (c == '.' || c == '\'')) {
            safe += "\\&";
        }
        if (c == '\\') {
            safe += "\\e";
        } else if (c == '-') {
            safe += "\\-";
        } else {
            safe += c;
        }
        begins = c == '\n';
    }
    return safe;
}

std::string manual(const Call& call)
{
    std::string page = fmt::format(".TH PRISMOPT 1 \"\" \"{}\" \"User Commands\"\n", program_name());
    page +=
        ".SH NAME\nprismopt \\- search parallel training plans of large models by their p99 training time\n"
        ".SH SYNOPSIS\n.B prismopt\n.I COMMAND\n[\\fIARGUMENT\\fR] [\\fIOPTION\\fR]...\n"
        ".SH DESCRIPTION\n.B prismopt\nmodels every kernel time as a random variable and predicts the "
        "distribution of the "
        "training time of a plan (parallelism, pipeline schedule, placement).\nIt searches for the plans "
        "with the best trade-off "
        "between a quantile of the training time, the cost and the number of GPUs, on one process or under "
        "MPI.\n"
        ".SH COMMANDS\n";
    for (const Command& command : commands()) {
        page += fmt::format(".SS \"{} {}\"\n{}.\n", command.name, command.argument, roff(command.does));
        for (const OptionText& option : options_of(command, call)) {
            page += fmt::format(".TP\n{}\\fB\\-\\-{}\\fR{}\n{}\n",
                                option.letter.empty() ? "" : fmt::format("\\fB\\-{}\\fR, ", option.letter),
                                roff(option.name),
                                option.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(option.value)),
                                roff(option.does));
        }
        page += fmt::format(".PP\nExample:\n.PP\n.nf\n    {}\n.fi\n", roff(command.example));
    }
    page += ".SH EXIT STATUS\n";
    for (const ExitCode& exit : exit_codes()) {
        page += fmt::format(".TP\n.B {}\n{}\n", exit.code, roff(exit.meaning));
    }
    page +=
        ".SH ENVIRONMENT\n.TP\n.B OMP_NUM_THREADS\nnumber of threads per rank\n.TP\n.B NO_COLOR\nif set, "
        "disables colours, also "
        "on a terminal\n";
    return page;
}

}  // namespace

int manual_command(const std::vector<std::string>& words, const Call& call)
{
    const auto values = parse_options("manual", po::options_description("Options"), "", words, call);
    if (values && call.team.rank() == 0) {
        fmt::print("{}", manual(call));
    }
    return exit_done;
}

}  // namespace prismopt
