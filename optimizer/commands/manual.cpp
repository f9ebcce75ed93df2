#include "optimizer/commands/command.hpp"
#include "optimizer/commands/program.hpp"

#include <fmt/format.h>

namespace prismopt {

namespace po = boost::program_options;

namespace {

/// For roff: no line begins with a control character, and minus signs are such that they can be copied.
std::string roff(const std::string& text)
{
    std::string safe;
    bool begins = true;
    for (const char c : text) {
        if (begins && (c == '.' || c == '\'')) {
            safe += "\\&";
        }
        c == '\\' ? safe += "\\e" : c == '-' ? safe += "\\-" : safe += c;
        begins = c == '\n';
    }
    return safe;
}

std::string manual(const Call& call)
{
    std::string page = fmt::format(".TH PRISMOPT 1 \"\" \"{}\" \"User Commands\"\n", program_name());
    page +=
        ".SH NAME\nprismopt \\- search ways of training large models, judged by their p99 training time\n"
        ".SH SYNOPSIS\n.B prismopt\n.I COMMAND\n[\\fIARGUMENT\\fR] [\\fIOPTION\\fR]...\n"
        ".SH DESCRIPTION\nEvery kernel time is a random variable; a plan of parallelism, schedule and placement has a "
        "distribution of its "
        "training time.\n.B prismopt\nsearches plans for the best quantile, its cost and its number of GPUs, alone or under "
        "MPI.\n"
        ".SH COMMANDS\n";
    for (const Command& command : commands()) {
        page += fmt::format(".SS \"{} {}\"\n{}.\n", command.name, command.argument, roff(command.does));
        for (const OptionText& option : options_of(command, call)) {
            page += fmt::format(".TP\n\\fB\\-\\-{}\\fR{}\n{}\n", roff(option.name),
                                option.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(option.value)), roff(option.does));
        }
        page += fmt::format(".PP\nExample:\n.PP\n.nf\n    {}\n.fi\n", roff(command.example));
    }
    page += ".SH EXIT STATUS\n";
    for (const ExitCode& exit : exit_codes()) {
        page += fmt::format(".TP\n.B {}\n{}\n", exit.code, roff(exit.meaning));
    }
    page += ".SH ENVIRONMENT\n.TP\n.B OMP_NUM_THREADS\nthreads of each rank\n.TP\n.B NO_COLOR\nno colours, also on a terminal\n";
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
