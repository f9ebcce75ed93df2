/// Runs a fuzzing entry on mutations of a corpus, the same ones each time: the seed of a case is its number.
///
/// usage: PROGRAM FIRST COUNT CORPUS...  cases FIRST to FIRST + COUNT - 1 of files, or of those in folders
///        PROGRAM --show CASE CORPUS...  writes that case to standard output
///
/// A case that takes more than ten seconds of a core (a minute under sanitizers) ends by SIGPROF, one that
/// waits for two minutes by SIGALRM. Whatever ends the program, its last line names the case.

#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

// NOLINTBEGIN: names that libFuzzer and the sanitizers define
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" void __sanitizer_set_death_callback(void (*callback)()) __attribute__((weak));
/// UndefinedBehaviorSanitizer has no such callback: its findings end by SIGABRT.
extern "C" __attribute__((visibility("default"), used)) const char* __ubsan_default_options()
{
    return "abort_on_error=1";
}
// NOLINTEND

namespace {

constexpr unsigned longest_wait_s = 120;
unsigned long long current = 0;

void say_case()
{
    std::array<char, 64> line{};
    const int length = std::snprintf(line.data(), line.size(), "case %llu\n", current);
    [[maybe_unused]] const auto ignored =
        ::write(STDERR_FILENO, line.data(), static_cast<std::size_t>(length));
}

void die(int signal)
{
    say_case();
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

/// Signals after so much time of a core, and of the clock; zero: none.
void watch(int core_s, unsigned clock_s)
{
    const itimerval timer{{0, 0}, {core_s, 0}};
    ::setitimer(ITIMER_PROF, &timer, nullptr);
    ::alarm(clock_s);
}

double core_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

using Random = std::mt19937_64;
std::size_t below(Random& random, std::size_t n) { return n == 0 ? 0 : random() % n; }

bool in_word(char c)
{
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-' || c == '+';
}

/// Words and numbers of a text, by place and length.
std::vector<std::pair<std::size_t, std::size_t>> words(const std::string& text)
{
    std::vector<std::pair<std::size_t, std::size_t>> found;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const std::size_t begin = at;
        while (at < text.size() && in_word(text[at])) {
            ++at;
        }
        if (at > begin) {
            found.emplace_back(begin, at - begin);
        }
    }
    return found;
}

std::vector<std::string> lines(const std::string& text)
{
    std::vector<std::string> found;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
        found.push_back(text.substr(at, end - at));
        at = end;
    }
    return found;
}

std::string joined(const std::vector<std::string>& text_lines)
{
    std::string text;
    for (const std::string& line : text_lines) {
        text += line;
    }
    return text;
}

void replace_word(std::string& text, Random& random, const std::string& by)
{
    const auto places = words(text);
    if (!places.empty()) {
        const auto [at, length] = places[below(random, places.size())];
        text.replace(at, length, by);
    }
}

void mutate_once(std::string& text, Random& random, const std::vector<std::string>& corpus,
                 const std::vector<std::string>& vocabulary)
{
    static const std::vector<std::string> extremes{"0",
                                                   "-1",
                                                   "1",
                                                   "-0.0",
                                                   "nan",
                                                   "inf",
                                                   "-inf",
                                                   "1e300",
                                                   "1e-300",
                                                   "5e-324",
                                                   "1.7976931348623157e308",
                                                   "2147483647",
                                                   "2147483648",
                                                   "-2147483648",
                                                   "9223372036854775807",
                                                   "9223372036854775808",
                                                   "4294967296",
                                                   "1e9",
                                                   "1e18",
                                                   "0x10",
                                                   "1_000",
                                                   "true",
                                                   "\"\"",
                                                   "[]",
                                                   "{}",
                                                   "1979-05-27",
                                                   "0.5",
                                                   "3",
                                                   "7",
                                                   "64",
                                                   "1000000"};
    const std::size_t at = below(random, text.size());
    switch (below(random, 12)) {
        case 0:
            if (!text.empty()) {
                text[at] = static_cast<char>(random() % 256);
            }
            break;
        case 1: text.erase(at, 1 + below(random, 20)); break;
        case 2: text.insert(at, text.substr(below(random, text.size()), 1 + below(random, 40))); break;
        case 3: text.resize(at); break;
        case 4: {
            auto text_lines = lines(text);
            if (!text_lines.empty()) {
                text_lines.erase(text_lines.begin() +
                                 static_cast<std::ptrdiff_t>(below(random, text_lines.size())));
            }
            text = joined(text_lines);
            break;
        }
        case 5: {
            auto text_lines = lines(text);
            if (!text_lines.empty()) {
                std::swap(text_lines[below(random, text_lines.size())],
                          text_lines[below(random, text_lines.size())]);
            }
            text = joined(text_lines);
            break;
        }
        case 6: {
            auto text_lines = lines(text);
            const auto others = lines(corpus[below(random, corpus.size())]);
            if (!others.empty()) {
                text_lines.insert(text_lines.begin() +
                                      static_cast<std::ptrdiff_t>(below(random, text_lines.size() + 1)),
                                  others[below(random, others.size())]);
            }
            text = joined(text_lines);
            break;
        }
        case 7:
        case 8:
        case 9: replace_word(text, random, extremes[below(random, extremes.size())]); break;
        default: replace_word(text, random, vocabulary[below(random, vocabulary.size())]); break;
    }
}

std::string mutated(unsigned long long number, const std::vector<std::string>& corpus,
                    const std::vector<std::string>& vocabulary)
{
    Random random(number);
    std::string text = corpus[below(random, corpus.size())];
    for (std::size_t edits = 1 + below(random, 4); edits > 0; --edits) {
        mutate_once(text, random, corpus, vocabulary);
    }
    constexpr std::size_t longest = 1 << 16;
    text.resize(std::min(text.size(), longest));
    return text;
}

std::vector<std::string> read_corpus(int count, char** arguments)
{
    std::vector<std::filesystem::path> paths;
    for (int i = 0; i < count; ++i) {
        if (std::filesystem::is_directory(arguments[i])) {
            for (const auto& file : std::filesystem::recursive_directory_iterator(arguments[i])) {
                if (file.is_regular_file()) {
                    paths.push_back(file.path());
                }
            }
        } else {
            paths.emplace_back(arguments[i]);
        }
    }
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> corpus;
    for (const auto& path : paths) {
        std::ifstream file(path, std::ios::binary);
        corpus.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    return corpus;
}

}  // namespace

int main(int count, char** arguments)
{
    if (count < 4) {
        std::fputs("usage: PROGRAM FIRST COUNT CORPUS... | PROGRAM --show CASE CORPUS...\n", stderr);
        return 2;
    }
    const std::vector<std::string> corpus = read_corpus(count - 3, arguments + 3);
    std::vector<std::string> vocabulary;
    for (const std::string& text : corpus) {
        for (const auto& [at, length] : words(text)) {
            vocabulary.push_back(text.substr(at, length));
        }
    }
    if (corpus.empty() || vocabulary.empty()) {
        std::fputs("the corpus is empty\n", stderr);
        return 2;
    }
    if (arguments[1] == std::string("--show")) {
        const std::string text = mutated(std::strtoull(arguments[2], nullptr, 10), corpus, vocabulary);
        std::fwrite(text.data(), 1, text.size(), stdout);
        return 0;
    }
    for (const int signal : {SIGPROF, SIGALRM, SIGABRT, SIGSEGV, SIGFPE, SIGILL, SIGBUS}) {
        std::signal(signal, die);
    }
    int longest_s = 10;
    if (__sanitizer_set_death_callback != nullptr) {
        __sanitizer_set_death_callback(say_case);
        longest_s = 60;
    }
    const unsigned long long first = std::strtoull(arguments[1], nullptr, 10);
    const unsigned long long cases = std::strtoull(arguments[2], nullptr, 10);
    double longest = 0.0;
    unsigned long long slowest = first;
    for (current = first; current < first + cases; ++current) {
        const std::string text = mutated(current, corpus, vocabulary);
        const double started = core_seconds();
        watch(longest_s, longest_wait_s);
        try {
            LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
        } catch (const std::exception& error) {
            std::fprintf(stderr, "an exception that is no refusal: %s\n", error.what());
            std::abort();
        }
        watch(0, 0);
        const double seconds = core_seconds() - started;
        if (seconds > longest) {
            longest = seconds;
            slowest = current;
        }
    }
    std::printf("%llu cases, the longest %.2f s (case %llu)\n", cases, longest, slowest);
    return 0;
}
