#include "io/html/report_page.hpp"

#include "io/html/page_data.hpp"
#include "io/html/page_files.hpp"
#include "io/plots/svg.hpp"
#include "io/report/report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <stdexcept>
#include <string_view>

namespace prismopt {

namespace {

/// Parts of the page's program in the order in which they run.
constexpr std::array<std::string_view, 23> program_files{
    "data.js",       "format.js",      "charts.js",      "selection.js", "choices.js",       "front.js",
    "best_plans.js", "table.js",       "batches.js",     "gains.js",     "distributions.js", "breakdown.js",
    "timeline.js",   "sensitivity.js", "reliability.js", "parallel.js",  "space.js",         "summary.js",
    "answer.js",     "printing.js",    "trust.js",       "machines.js",  "main.js"};

std::string text_of(const std::vector<EmbeddedFile>& files, std::string_view name)
{
    const auto found = std::find_if(files.begin(), files.end(),
                                    [name](const EmbeddedFile& file) { return file.name == name; });
    if (found == files.end()) {
        throw std::logic_error("the program contains no file " + std::string(name));
    }
    return found->text;
}

/// Inside an element of HTML, text may not begin another; JSON may write the sign as an escape.
std::string without_tags(const std::string& json)
{
    std::string text;
    for (const char c : json) {
        c == '<' ? text += "\\u003c" : text += c;
    }
    return text;
}

/// Puts a text in the place of its mark, which is there once.
void put(std::string& page, std::string_view mark, const std::string& text)
{
    page.replace(page.find(mark), mark.size(), text);
}

std::string name_in_file(const ReportedStudy& study)
{
    return fmt::format("{} ({})", study.name, std::filesystem::path(study.file).filename().string());
}

/// The job of a study, or the names of several, whose jobs the page lists.
std::string page_title(const std::vector<ReportedStudy>& studies)
{
    constexpr std::size_t most_named = 4;
    if (studies.size() == 1) {
        return job_title(studies.front().results);
    }
    if (studies.size() > most_named) {
        return fmt::format("{} studies compared", studies.size());
    }
    std::vector<std::string> names;
    for (const ReportedStudy& study : studies) {
        names.push_back(study.name);
    }
    return fmt::format("{}", fmt::join(names, " vs. "));
}

/// What a reader without scripts sees.
std::string answers(const std::vector<ReportedStudy>& studies)
{
    std::string text;
    for (const ReportedStudy& study : studies) {
        text += studies.size() > 1 ? name_in_file(study) + "\n" : "";
        text += answer_text(study.results);
    }
    return text;
}

}  // namespace

std::string report_page(const std::vector<ReportedStudy>& studies, const std::string& program,
                        const Comparison& comparison)
{
    const std::vector<EmbeddedFile> files = page_files();
    const std::vector<EmbeddedFile> library = chart_library_files();
    std::string page = text_of(files, "page.html");
    std::string scripts;
    for (const std::string_view name : program_files) {
        scripts += text_of(files, name) + "\n";
    }
    std::string licences;
    for (std::size_t i = 1; i < library.size(); ++i) {
        licences += escaped(library[i].text) + "\n\n";
    }
    put(page, "@style@", text_of(files, "style.css"));
    put(page, "@licences@", licences);
    const std::string title = escaped(page_title(studies));
    const std::string answer = escaped(answers(studies));
    const std::size_t others =
        page.size() + scripts.size() + library.front().text.size() + 2 * title.size() + answer.size();
    const std::string data = page_data(studies, program, comparison, most_page_bytes - others).dump();
    // From the end of the page, so that no mark is looked for in what was put in.
    put(page, "@program@", scripts);
    put(page, "@library@", library.front().text);
    put(page, "@data@", without_tags(data));
    put(page, "@answer@", answer);
    put(page, "@heading@", title);
    put(page, "@title@", title);
    return page;
}

}  // namespace prismopt
