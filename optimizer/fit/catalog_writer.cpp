#include "optimizer/fit/catalog_writer.hpp"

#include "io/base/input_error.hpp"
#include "io/results/posix_file.hpp"
#include "io/scenario/sections/catalog.hpp"
#include "model/hardware/machine_constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <utility>

namespace prismopt {

namespace {

constexpr std::size_t comment_column = 36;

std::string read_file(const std::string& path)
{
    std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        throw InputError(path + ": cannot be read; name the folder model/catalog of the source tree");
    }
    return {std::istreambuf_iterator<char>(stream), {}};
}

bool is_time(const FitConstant& constant)
{
    const auto time = [&constant]<class Owner>() {
        return constant_of<Owner>(constant.key).kind == ConstantKind::time;
    };
    if (constant.file == accelerators_file) {
        return time.operator()<Accelerator>();
    }
    if (constant.file == libraries_file) {
        return time.operator()<CollectiveLibrary>();
    }
    return constant.file == links_file ? time.operator()<NetworkTier>() : time.operator()<SoftwareStack>();
}

std::string value_text(const FitConstant& constant)
{
    if (!is_time(constant)) {
        return fmt::format("{:.3g}", constant.value);
    }
    constexpr double millisecond = 1e-3;
    return constant.value >= millisecond ? fmt::format("\"{:.3g} ms\"", constant.value * 1e3)
                                         : fmt::format("\"{:.3g} us\"", constant.value * 1e6);
}

/// The TOML section of a constant: an accelerator's shares are in a table of their own.
std::string section_of(const FitConstant& constant, const std::string& entry)
{
    const bool share =
        constant.file == "accelerators.toml" && constant.key != "launch" && constant.key != "sustained_clock";
    return share ? entry + ".efficiency" : entry;
}

/// Calls visit(section, line) for each line.
template <class Visit>
void for_lines(const std::string& text, Visit&& visit)
{
    std::istringstream stream(text);
    std::string section;
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with('[')) {
            section = line.substr(1, line.find(']') - 1);
        }
        visit(section, line);
    }
}

/// Replaces the line of `key` in `[section]`.
std::string replaced(const std::string& text, const std::string& section, const std::string& key,
                     const std::string& line, const std::string& path)
{
    std::string result;
    bool found = false;
    for_lines(text, [&](const std::string& at, const std::string& old) {
        const bool own = at == section && old.starts_with(key + " = ");
        found = found || own;
        result += (own ? line : old) + "\n";
    });
    if (!found) {
        throw InputError(fmt::format("{}: [{}] has no line \"{} = ...\" to replace", path, section, key));
    }
    return result;
}

/// Runs that the constant was fitted to.
int rows_of(const FitConstant& constant, const std::vector<FittedRow>& rows)
{
    return static_cast<int>(std::count_if(rows.begin(), rows.end(), [&constant](const FittedRow& row) {
        return constant.concerns(row.run);
    }));
}

/// Runs of mixtures of experts by what they ran on: what intervals of mixtures rest on.
std::string moe_text(const std::vector<FittedRow>& rows)
{
    std::map<std::pair<std::string, std::string>, int> counts;
    for (const FittedRow& row : rows) {
        if (row.run.workload.find<ExpertsBlock>() != nullptr) {
            ++counts[{row.run.cluster.accelerator.name, row.run.cluster.stack.name}];
        }
    }
    std::string text;
    for (const auto& [on, count] : counts) {
        text += fmt::format("    {{ accelerator = \"{}\", stack = \"{}\", rows = {} }},\n", on.first,
                            on.second, count);
    }
    return text.empty() ? "" : "mixtures = [\n" + text + "]\n";
}

std::string held_out_text(const std::vector<HeldOutErrors>& held_out)
{
    const auto errors = [](const FamilyErrors& e) {
        return fmt::format("[{:.4f}, {:.4f}, {:.4f}]", e.error, e.inside, e.half_width);
    };
    std::string text;
    for (const HeldOutErrors& e : held_out) {
        text += fmt::format(
            "    {{ source = \"{}\", line = \"{}\", kind = \"{}\", known = {}, rows = {}, fitted = {}, "
            "left_out = {}, "
            "bias = {:.4f}, machines = [\"{}\"] }},\n",
            e.source, e.line, key(e.kind), e.known, e.rows, errors(e.fitted), errors(e.held_out), e.bias,
            fmt::join(e.machines, "\", \""));
    }
    return text.empty() ? "" : "left_out = [\n" + text + "]\n";
}

std::string fit_text(const Fit& fit, const std::vector<FittedRow>& rows, const std::string& date,
                     double mean_error, double median_error, const std::vector<HeldOutErrors>& held_out)
{
    std::map<std::string, int> sources;
    for (const FittedRow& row : rows) {
        ++sources[row.run.source];
    }
    std::string text =
        "# Written by jobs/fit_constants: what the constants of accelerators, stacks and links were fitted "
        "to, and how well they "
        "are\n"
        "# known. Covariances are of natural logarithms, in the order of `names`, row by row up to the "
        "diagonal; `entries` of "
        "the\n"
        "# catalog share a constant. `scatter`: 1.96 times as much holds 95 % of |log(measured / predicted)| "
        "of runs that are "
        "dense,\n"
        "# dense in fewer than 16 bits, mixtures of experts, hybrids, encoders, recommendation networks, and "
        "on tori. The "
        "covariance is that of independent rows; for each "
        "of\n"
        "# these kinds its variances times `widening` hold 95 % of the rows of families held out "
        "of the "
        "fit. "
        "`mixtures`: rows\n"
        "# of mixtures of experts, on what. `unmeasured`: deviation beside the scatter of accelerators whose "
        "shares of the peak "
        "are\n"
        "# another's; holds 95 % of the rows of each measured accelerator, predicted by the shares of each "
        "of the others. "
        "`left_out`:\n"
        "# rows of a line of models of a source, predicted by the fit of all rows and by one without them: "
        "mean absolute error, "
        "share\n"
        "# inside the 95 % interval, mean half-width of that. `known`: other rows have their accelerators "
        "and stacks.\n"
        "# `constant_rows`: rows that each constant was fitted to.\n\n";
    text += fmt::format(
        "date = \"{}\"\nrows = {}\nmean_absolute_error = {:.4f}\nmedian_absolute_error = {:.4f}\ncost = "
        "{:.4f}\nwidening = "
        "[{:.3f}]\n",
        date, rows.size(), mean_error, median_error, fit.cost, fmt::join(fit.widening, ", "));
    text += "sources = [\n";
    for (const auto& [source, count] : sources) {
        text += fmt::format("    \"{}: {} rows\",\n", source, count);
    }
    std::vector<std::size_t> of_catalog;  // constants that entries have
    for (std::size_t k = 0; k < fit.constants.size(); ++k) {
        if (!fit.constants[k].is_mean()) {
            of_catalog.push_back(k);
        }
    }
    text += "]\n" + moe_text(rows) + "names = [\n";
    for (const std::size_t k : of_catalog) {
        text += fmt::format("    \"{}\",\n", fit.constants[k].name());
    }
    text += "]\nentries = [\n";
    for (const std::size_t k : of_catalog) {
        text += fmt::format("    [\"{}\"],\n", fmt::join(fit.constants[k].sections, "\", \""));
    }
    std::vector<int> counts;
    counts.reserve(of_catalog.size());
    for (const std::size_t k : of_catalog) {
        counts.push_back(rows_of(fit.constants[k], rows));
    }
    text += fmt::format("]\nconstant_rows = [{}]\nscatter = [{:.4f}]\nunmeasured = {:.3f}\n",
                        fmt::join(counts, ", "), fmt::join(fit.scatter, ", "), fit.unmeasured);
    text += "covariance = [\n";
    const std::size_t n = fit.constants.size();
    for (std::size_t i = 0; i < of_catalog.size(); ++i) {
        // As a text: ten thousands of numbers of TOML take longer to read than a prediction takes.
        text += "    \"";
        for (std::size_t j = 0; j <= i; ++j) {
            text +=
                fmt::format("{}{:.3g}", j == 0 ? "" : " ", fit.covariance[of_catalog[i] * n + of_catalog[j]]);
        }
        text += "\",\n";
    }
    return text + "]\n" + held_out_text(held_out);
}

/// A line `key = value  # comment`; nothing of it in other lines.
struct CatalogLine {
    std::string key;
    std::string value;
    std::string comment;

    explicit CatalogLine(const std::string& line)
    {
        const std::size_t equals = line.find(" = ");
        const std::size_t hash = line.find('#');
        if (equals == std::string::npos || hash == std::string::npos || hash < equals) {
            return;
        }
        key = line.substr(0, equals);
        value = line.substr(equals + 3, line.find_last_not_of(' ', hash - 1) - equals - 2);
        comment = line.substr(hash);
    }
    std::string text() const
    {
        std::string line = fmt::format("{} = {}", key, value);
        line.resize(std::max(line.size() + 1, comment_column), ' ');
        return line + comment;
    }
};

}  // namespace

std::string with_values_of_siblings(const std::string& text)
{
    std::map<std::pair<std::string, std::string>, std::string> values;  // by section and key
    for_lines(text, [&](const std::string& section, const std::string& line) {
        const CatalogLine read(line);
        values[{section, read.key}] = read.value;
    });
    static const std::regex as_another("(?:# |assumption: )as ([a-z0-9-]+)");
    std::string result;
    for_lines(text, [&](const std::string& section, const std::string& line) {
        CatalogLine read(line);
        std::smatch sibling;
        auto of_sibling = values.end();
        if (std::regex_search(read.comment, sibling, as_another)) {
            const std::size_t table = std::min(section.find('.'), section.size());  // "h800-sxm.efficiency"
            of_sibling = values.find({sibling[1].str() + section.substr(table), read.key});
        }
        const bool differs = of_sibling != values.end() && of_sibling->second != read.value;
        if (differs) {
            read.value = of_sibling->second;
        }
        result += (differs ? read.text() : line) + "\n";
    });
    return result;
}

void write_catalog(const std::string& folder, const Fit& fit, const std::vector<FittedRow>& rows,
                   const std::string& date, double mean_error, double median_error,
                   const std::vector<HeldOutErrors>& held_out, const Components& components)
{
    std::map<std::string, std::string> files;
    const auto write = [&](const FitConstant& constant, const std::string& source, double deviation) {
        const std::string path = (std::filesystem::path(folder) / constant.file).string();
        auto file = files.find(path);
        if (file == files.end()) {
            file = files.emplace(path, read_file(path)).first;
        }
        for (const std::string& entry : constant.sections) {
            std::string line = fmt::format("{} = {}", constant.key, value_text(constant));
            line.resize(std::max(line.size() + 1, comment_column), ' ');
            line += fmt::format("# {}, +-{:.0f} %", source, 100.0 * deviation);
            file->second = replaced(file->second, section_of(constant, entry), constant.key, line, path);
        }
    };
    for (std::size_t k = 0; k < fit.constants.size(); ++k) {
        const FitConstant& constant = fit.constants[k];
        if (constant.is_mean()) {
            continue;
        }
        const int concerned = rows_of(constant, rows);
        const std::string source =
            concerned > 0 ? fmt::format("fitted {} to {} rows", date, concerned)
                          : fmt::format("mean of {}, fitted {}",
                                        constant.parent.substr(0, constant.parent.find('.')), date);
        write(constant, source, std::sqrt(fit.widening.front()) * fit.deviation[k]);
    }
    const auto write_component = [&](const FitConstant& constant, const std::string& source,
                                     double deviation) {
        if (std::none_of(fit.constants.begin(), fit.constants.end(),
                         [&constant](const FitConstant& other) { return other.is(constant); })) {
            write(constant, fmt::format("fitted {} to {}", date, source), deviation);
        }
    };
    const NetworkFit& network = components.network;
    for (std::size_t k = 0; k < network.constants.size(); ++k) {
        write_component(network.constants[k], fmt::format("{} collectives", network.rows),
                        network.deviation[k]);
    }
    for (const KernelShare& share : components.shares) {
        write_component(constant_of(share), fmt::format("{} kernels", share.rows), share.deviation);
    }
    for (const auto& [path, text] : files) {
        replace_file(path, with_values_of_siblings(text));
    }
    replace_file((std::filesystem::path(folder) / "fit.toml").string(),
                 fit_text(fit, rows, date, mean_error, median_error, held_out));
}

}  // namespace prismopt
