#include "optimizer/fit/families.hpp"

#include "io/toml/catalog.hpp"
#include "io/toml/catalog_file.hpp"
#include "model/hardware/machine_constants.hpp"

namespace prismopt {

namespace {

template <class Owner>
std::vector<std::string> keys_of()
{
    std::vector<std::string> keys;
    for (const MachineConstant<Owner>& constant : constants_of<Owner>()) {
        keys.emplace_back(constant.key);
    }
    return keys;
}

std::vector<std::string> keys_of(const std::string& file)
{
    if (file == "accelerators.toml") {
        return keys_of<Accelerator>();
    }
    return file == "stacks.toml" ? keys_of<SoftwareStack>() : keys_of<NetworkTier>();
}

constexpr Range believed_range{"what is published of the constant", 1e-9, 1e6, "0.5"};
constexpr Range deviation_range{"deviations of logarithms", 1e-3, 2.0, "0.2"};

EntryFamily read_family(Table row)
{
    EntryFamily family;
    family.file = row.at("file", "file = \"links.toml\"")
                      .choice({"accelerators.toml", "stacks.toml", "links.toml"}, "files");
    family.name = row.at("name", "name = \"nvlink\"").text("nvlink");
    const std::string kind = family.file.substr(0, family.file.find('.'));
    const std::vector<std::string> known = Catalog::built_in().names(kind);
    for (const Value& entry : row.at("entries", "entries = [\"nvlink4\"]").list("[\"nvlink4\"]")) {
        family.entries.push_back(entry.choice(known, "entries"));
    }
    if (const auto keys = row.find("keys")) {
        for (const Value& key : keys->list("[\"latency\"]")) {
            family.keys.insert(key.choice(keys_of(family.file), "constants"));
        }
    }
    if (const auto shared = row.find("shared")) {
        family.shared = shared->boolean();
    }
    if (const auto believed = row.find("believed")) {
        if (!family.shared || family.keys.size() != 1) {
            believed->fail({"is of one constant", "the entries of this family have several",
                            "give shared = true and one of keys, or remove it"});
        }
        family.belief = {believed->number(believed_range),
                         row.at("deviation", "deviation = 0.2").number(deviation_range)};
    }
    row.refuse_unknown_keys();
    return family;
}

}  // namespace

const std::vector<EntryFamily>& catalog_families()
{
    static const std::vector<EntryFamily> families = [] {
        std::vector<EntryFamily> all;
        const TomlFile& file = catalog_file("families.toml");
        for (const Value& row : Table(file.root, file).at("family", "[[family]]").list("[[family]]")) {
            all.push_back(read_family(row.table("[[family]]")));
        }
        return all;
    }();
    return families;
}

}  // namespace prismopt
