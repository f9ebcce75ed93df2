#include "io/traces/kernel_name_table.hpp"

#include "io/base/csv.hpp"
#include "io/toml/catalog_file.hpp"
#include "io/toml/toml.hpp"

namespace prismopt {

namespace {

constexpr const char* row_example = R"([[kernel]] with class = "gemm", names = ["my_gemm"], source = "...")";

KernelClass class_in(const Value& value)
{
    std::vector<std::string> names;
    names.reserve(kernel_class_rows.size());
    for (const KernelClassRow& row : kernel_class_rows) {
        names.emplace_back(row.name);
    }
    const std::string text = value.choice(names, "kernel classes");
    return static_cast<KernelClass>(std::find(names.begin(), names.end(), text) - names.begin());
}

std::optional<OpRole> role_in(Table& row)
{
    const auto value = row.find("role");
    if (!value) {
        return std::nullopt;
    }
    std::vector<std::string> names;
    names.reserve(names_of<OpRole>.size());
    for (const auto& role : names_of<OpRole>) {
        names.emplace_back(role.name);
    }
    return parse<OpRole>(value->choice(names, "roles of operations"));
}

void add_rows(const TomlFile& file, KernelNames& names)
{
    Table root(file.root, file);
    for (const Value& element : root.at("kernel", row_example).list(row_example)) {
        Table row = element.table(row_example);
        const KernelClass kernel = class_in(row.at("class", R"(class = "gemm")"));
        const std::optional<OpRole> role = role_in(row);
        row.at("source", R"(source = "where these names come from")").text("...");
        for (const Value& pattern : row.at("names", R"(names = ["my_gemm"])").list(R"(["my_gemm"])")) {
            names.push_back(kernel_name(pattern.text("my_gemm"), kernel, role));
            if (names.back().fragments.empty()) {
                pattern.fail({"matches every name", "it has no letters beside *",
                              R"(write a part of the name, such as "my_gemm")"});
            }
        }
        row.refuse_unknown_keys();
    }
    root.refuse_unknown_keys();
}

}  // namespace

KernelNames kernel_names(const std::vector<std::string>& paths)
{
    KernelNames names;
    for (const std::string& path : paths) {
        add_rows(parse_toml(read_text(path), path), names);
    }
    add_rows(catalog_file("kernel_names.toml"), names);
    return names;
}

}  // namespace prismopt
