#include "io/authoring/jobs/job_setting.hpp"
#include "io/toml/toml.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <yaml.h>

#include <algorithm>
#include <memory>
#include <string_view>

namespace prismopt {

namespace {

constexpr std::size_t longest_document = 4'000'000;  // characters
constexpr std::size_t most_settings = 100'000;       // aliases multiply them
constexpr int deepest_document = 64;

/// What libyaml fills in.
struct Parser {
    yaml_parser_t parser{};
    Parser() { yaml_parser_initialize(&parser); }
    ~Parser() { yaml_parser_delete(&parser); }
    Parser(const Parser&) = delete;
    Parser& operator=(const Parser&) = delete;
};
struct Document {
    yaml_document_t document{};
    ~Document() { yaml_document_delete(&document); }
    Document() = default;
    Document(const Document&) = delete;
    Document& operator=(const Document&) = delete;
};

struct Flattening {
    yaml_document_t* document;
    const std::string& path;
    JobSettingList& settings;
};

std::string scalar_text(const yaml_node_t& node)
{
    return {reinterpret_cast<const char*>(node.data.scalar.value),
            node.data.scalar.length};  // NOLINT: bytes of a C library
}

int line_of(const yaml_node_t& node) { return static_cast<int>(node.start_mark.line) + 1; }

void refuse_size(const Flattening& f, int line)
{
    throw InputError({f.path, line}, "has more values than a description of a job",
                     "give the file that starts the training");
}

/// "section.key"; of the outermost section, which has no name, the key.
std::string joined_name(const std::string& section, const std::string& key)
{
    return section.empty() ? key : fmt::format("{}.{}", section, key);
}

void flatten(const Flattening& f, const yaml_node_t& node, const std::string& name, int depth);

void flatten_list(const Flattening& f, const yaml_node_t& node, const std::string& name, int depth)
{
    const auto* begin = node.data.sequence.items.start;
    const auto* end = node.data.sequence.items.top;
    const auto plain = [&f](yaml_node_item_t item) {
        return yaml_document_get_node(f.document, item)->type == YAML_SCALAR_NODE;
    };
    if (std::all_of(begin, end, plain)) {
        JobSetting& setting = f.settings.emplace_back(JobSetting{name, {}, {}, {f.path, line_of(node)}});
        for (const auto* item = begin; item != end; ++item) {
            setting.values.push_back(scalar_text(*yaml_document_get_node(f.document, *item)));
        }
        setting.values.resize(std::max<std::size_t>(1, setting.values.size()), "null");
        return;
    }
    for (const auto* item = begin; item != end; ++item) {
        flatten(f, *yaml_document_get_node(f.document, *item), fmt::format("{}.{}", name, item - begin),
                depth);
    }
}

void flatten(const Flattening& f, const yaml_node_t& node, const std::string& name, int depth)
{
    if (depth > deepest_document || f.settings.size() > most_settings) {
        refuse_size(f, line_of(node));
    }
    if (node.type == YAML_SEQUENCE_NODE) {
        flatten_list(f, node, name, depth + 1);
    } else if (node.type == YAML_MAPPING_NODE) {
        for (const auto* pair = node.data.mapping.pairs.start; pair != node.data.mapping.pairs.top; ++pair) {
            const yaml_node_t& key = *yaml_document_get_node(f.document, pair->key);
            const yaml_node_t& value = *yaml_document_get_node(f.document, pair->value);
            const std::string own = key.type == YAML_SCALAR_NODE ? scalar_text(key) : "?";
            const bool merged = own == "<<";
            flatten(f, value, merged ? name : joined_name(name, own), depth + 1);
        }
    } else {
        f.settings.push_back({name, {scalar_text(node)}, {}, {f.path, line_of(node)}});
    }
}

void flatten(const TomlNode& node, const std::string& name, const std::string& path, JobSettingList& settings)
{
    if (node.kind == TomlNode::Kind::table) {
        for (const TomlNode& child : node.children) {
            flatten(child, joined_name(name, child.key), path, settings);
        }
        return;
    }
    JobSetting& setting = settings.emplace_back(JobSetting{name, {}, {}, {path, node.line}});
    const auto add = [&setting](const TomlNode& value) {
        setting.values.push_back(value.kind == TomlNode::Kind::text ? value.text : value.shown);
    };
    if (node.kind != TomlNode::Kind::list) {
        add(node);
        return;
    }
    for (const TomlNode& child : node.children) {
        if (child.kind == TomlNode::Kind::list) {  // of lists: the texts of each in one value
            std::string all;
            for (const TomlNode& inner : child.children) {
                all += (all.empty() ? "" : ",") +
                       (inner.kind == TomlNode::Kind::text ? inner.text : inner.shown);
            }
            setting.values.push_back(all);
        } else {
            add(child);
        }
    }
}

}  // namespace

std::string JobSetting::text() const { return fmt::format("{}", fmt::join(values, " ")); }

JobSettingList document_settings(const std::string& text, const std::string& path)
{
    if (text.size() > longest_document) {
        throw InputError({path, 0}, fmt::format("is longer than {} characters", longest_document),
                         "give the script or configuration that starts the training");
    }
    Parser parser;
    Document document;
    yaml_parser_set_input_string(&parser.parser, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());  // NOLINT: as above
    if (yaml_parser_load(&parser.parser, &document.document) == 0) {
        const char* problem = parser.parser.problem;
        throw InputError({path, static_cast<int>(parser.parser.problem_mark.line) + 1},
                         fmt::format("is not valid YAML or JSON: {}",
                                     problem == nullptr ? "it cannot be read" : problem),
                         "correct this line, or give another file of the job");
    }
    JobSettingList settings;
    const yaml_node_t* root = yaml_document_get_root_node(&document.document);
    if (root != nullptr) {
        flatten({&document.document, path, settings}, *root, "", 0);
    }
    return settings;
}

JobSettingList toml_settings(const std::string& text, const std::string& path)
{
    const TomlFile file = parse_toml(text, path);
    JobSettingList settings;
    flatten(file.root, "", path, settings);
    return settings;
}

namespace {

/// The value of a setting of that path, of the last one; nothing: there is none.
const JobSetting* setting_named(const JobSettingList& settings, std::string_view name)
{
    const auto found = std::find_if(settings.rbegin(), settings.rend(),
                                    [name](const JobSetting& s) { return s.name == name; });
    return found == settings.rend() ? nullptr : &*found;
}

/// What ${inner} stands for in the setting; nothing: unknown.
std::optional<std::string> referred(const std::string& inner, const JobSetting& from,
                                    const JobSettingList& settings,
                                    const std::map<std::string, std::string>& given)
{
    std::string name = inner;
    std::optional<std::string> usual;
    const bool environment = name.starts_with("oc.env:");
    if (environment) {
        name = name.substr(7);
    }
    const std::size_t colon = name.find(environment ? ',' : ':');
    if (colon != std::string::npos) {
        usual = name.substr(colon + 1);
        usual->erase(0, std::min(usual->find_first_not_of(" -"), usual->size()));
        name = name.substr(0, colon);
    }
    if (const auto own = given.find(name); own != given.end()) {
        return own->second;
    }
    if (name.starts_with('.')) {
        const std::size_t dot = from.name.rfind('.');
        name = (dot == std::string::npos ? "" : from.name.substr(0, dot + 1)) + name.substr(1);
    }
    const JobSetting* found = colon == std::string::npos ? setting_named(settings, name) : nullptr;
    if (found != nullptr && found->values.size() == 1 &&
        found->values.front().find("${") == std::string::npos) {
        return found->values.front();
    }
    return usual;
}

}  // namespace

void resolve_references(JobSettingList& settings, const std::map<std::string, std::string>& given)
{
    constexpr int rounds = 4;  // of references to references
    for (int round = 0; round < rounds; ++round) {
        for (JobSetting& setting : settings) {
            for (std::string& value : setting.values) {
                const std::size_t begin = value.find("${");
                const std::size_t end = begin == std::string::npos ? begin : value.find('}', begin);
                if (end == std::string::npos) {
                    continue;
                }
                const std::string inner = value.substr(begin + 2, end - begin - 2);
                if (const auto text = referred(inner, setting, settings, given)) {
                    value = value.substr(0, begin) + *text + value.substr(end + 1);
                } else if (round == rounds - 1) {
                    setting.missing.push_back(inner.substr(0, inner.find_first_of(":,")));
                }
            }
        }
    }
}

}  // namespace prismopt
