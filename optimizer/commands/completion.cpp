#include "io/base/input_error.hpp"
#include "io/scenario/catalog_facts.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "io/scenario/sections/software.hpp"
#include "optimizer/api/search.hpp"
#include "optimizer/commands/command.hpp"

#include "io/authoring/catalog_list.hpp"
#include "io/export/launch.hpp"
#include "io/toml/nearest.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>

namespace prismopt {

namespace po = boost::program_options;

namespace {

/// Possible values of an option that takes a name; empty for files and numbers.
std::string choices_of(const std::string& option)
{
    std::vector<std::string> names;
    if (option == "target") {
        for (const ExportTarget& target : export_targets()) {
            names.emplace_back(target.name);
        }
    } else if (option == "workload") {
        names = catalog_workloads();
    } else if (option == "accelerator") {
        names = catalog_accelerators();
    } else if (option == "software") {
        names = Catalog::built_in().names(software_kind);
    } else if (option == "instance") {
        names = Catalog::built_in().names(instances_kind);
    } else if (option == "network") {
        names = catalog_links();
    } else if (option == "list") {
        names = listed_kinds();
    } else if (option == "strategy") {
        names = strategy_names();
    }
    return fmt::format("{}", fmt::join(names, " "));
}

std::string bash(const Call& call)
{
    std::string names;
    std::string cases;
    std::map<std::string, std::string> choices;
    for (const Command& command : commands()) {
        names += fmt::format("{}{}", names.empty() ? "" : " ", command.name);
        std::string options;
        std::string valued;
        for (const OptionText& option : options_of(command, call)) {
            options +=
                fmt::format("{}{}--{}", options.empty() ? "" : " ",
                            option.letter.empty() ? "" : fmt::format("-{} ", option.letter), option.name);
            if (const std::string list = choices_of(option.name); !list.empty()) {
                choices[option.name] = list;
            }
            if (!option.value.empty()) {
                valued += fmt::format("{}{}--{}", valued.empty() ? "" : " | ",
                                      option.letter.empty() ? "" : fmt::format("-{} | ", option.letter),
                                      option.name);
            }
        }
        cases += fmt::format("        {}) options=\"{}\" valued=\"{}\" ;;\n", command.name, options, valued);
    }
    std::string values;
    for (const auto& [option, list] : choices) {
        values +=
            fmt::format("        --{}) mapfile -t COMPREPLY < <(compgen -W \"{}\" -- \"$word\"); return ;;\n",
                        option, list);
    }
    return fmt::format(R"(# Completion of prismopt for bash: source <(prismopt completion bash)
_prismopt() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} options="" valued=""
    if [[ $COMP_CWORD -eq 1 ]]; then
        mapfile -t COMPREPLY < <(compgen -W "{} --help --version" -- "$word")
        return
    fi
    case ${{COMP_WORDS[1]}} in
{}    esac
    case $before in
{}    esac
    if [[ $word == -* && " $valued " != *" $before "* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}}
complete -o filenames -F _prismopt prismopt
)",
                       names, cases, values);
}

/// Escapes a description for single quotes, in which brackets and colons would end it.
std::string zsh_text(const std::string& text)
{
    std::string safe;
    for (const char c : text) {
        switch (c) {
            case '\'': safe += "'\\''"; break;
            case '[':
            case ']':
            case ':': safe += fmt::format("\\{}", c); break;
            case '\n': safe += ' '; break;
            default: safe += c;
        }
    }
    return safe;
}

/// "'--gpus'", or both forms, of which only one can be given: "'(-o --out)'{-o,--out}".
std::string zsh_names(const OptionText& option)
{
    return option.letter.empty() ? fmt::format("'--{}'", option.name)
                                 : fmt::format("'(-{0} --{1})'{{-{0},--{1}}}", option.letter, option.name);
}

std::string zsh(const Call& call)
{
    std::string names;
    std::string cases;
    for (const Command& command : commands()) {
        names += fmt::format("        '{}:{}'\n", command.name, zsh_text(command.does));
        cases += fmt::format("        {}) _arguments \\\n", command.name);
        for (const OptionText& option : options_of(command, call)) {
            const std::string list = choices_of(option.name);
            const std::string action = list.empty() ? "_files" : fmt::format("({})", list);
            cases += fmt::format(
                "            {}'[{}]{}' \\\n", zsh_names(option), zsh_text(option.does),
                option.value.empty() ? "" : fmt::format(":{}:{}", zsh_text(option.value), action));
        }
        cases += "            '*:file:_files' ;;\n";
    }
    return fmt::format(R"(#compdef prismopt
# Completion of prismopt for zsh: prismopt completion zsh > DIRECTORY_OF_FPATH/_prismopt
_prismopt() {{
    local -a commands=(
{})
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    local command=$words[2]
    words=("${{(@)words[2,-1]}}")
    (( CURRENT -= 1 ))
    case $command in
{}    esac
}}
compdef _prismopt prismopt
)",
                       names, cases);
}

}  // namespace

int completion_command(const std::vector<std::string>& words, const Call& call)
{
    const auto values = parse_options("completion", po::options_description("Options"), "SHELL", words, call);
    if (!values || call.team.rank() != 0) {
        return exit_done;
    }
    const std::string shell = (*values)["SHELL"].as<std::string>();
    if (shell != "bash" && shell != "zsh") {
        throw InputError(fmt::format("no completion is available for '{}'; write bash or zsh", shell));
    }
    fmt::print("{}", shell == "bash" ? bash(call) : zsh(call));
    return exit_done;
}

}  // namespace prismopt
