#include "io/results/hdf5_file.hpp"

#include "io/base/control_characters.hpp"
#include "io/results/global_heap.hpp"

#include <fmt/format.h>
#include <hdf5.h>
#include <hdf5_hl.h>
#include <algorithm>
#include <array>
#include <cassert>
#include <filesystem>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace prismopt {

namespace {

static_assert(std::is_same_v<hid_t, std::int64_t>);

constexpr hsize_t compressed_from = 4096;  // elements; shorter datasets are stored as they are
constexpr hsize_t chunk = 65536;           // elements
constexpr unsigned deflate_level = 4;
constexpr std::size_t memory_step = std::size_t{16} << 20;  // bytes by which a file in memory grows

herr_t keep_innermost(unsigned depth, const H5E_error2_t* error, void* text)
{
    if (depth == 0 && error->desc != nullptr) {
        *static_cast<std::string*>(text) = error->desc;
    }
    return 0;
}

[[noreturn]] void fail(const std::string& what)
{
    std::string reason;
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &reason);
    throw std::runtime_error(what + (reason.empty() ? "" : " (HDF5: " + reason + ")"));
}

/// `result` of an HDF5 call that attempted `what`.
template <class Result>
Result checked(Result result, const std::string& what)
{
    if (result < 0) {
        fail("cannot " + what);
    }
    return result;
}

/// HDF5 prints its error stack by default; here errors are exceptions.
void silence() { H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr); }

/// An identifier of any kind, closed at the end of its scope.
class Scoped {
public:
    Scoped(hid_t id, const std::string& what) : id_(checked(id, what)) {}
    Scoped(const Scoped&) = delete;
    Scoped& operator=(const Scoped&) = delete;
    ~Scoped() { H5Idec_ref(id_); }
    operator hid_t() const { return id_; }

private:
    hid_t id_;
};

template <class T>
hid_t new_type()
{
    if constexpr (std::is_same_v<T, std::int8_t>) {
        return H5Tcopy(H5T_NATIVE_INT8);
    } else if constexpr (std::is_same_v<T, std::int32_t>) {
        return H5Tcopy(H5T_NATIVE_INT32);
    } else if constexpr (std::is_same_v<T, std::uint64_t>) {
        return H5Tcopy(H5T_NATIVE_UINT64);
    } else if constexpr (std::is_same_v<T, double>) {
        return H5Tcopy(H5T_NATIVE_DOUBLE);
    } else {
        static_assert(std::is_same_v<T, std::string>);
        const hid_t type = H5Tcopy(H5T_C_S1);
        H5Tset_size(type, H5T_VARIABLE);
        H5Tset_cset(type, H5T_CSET_UTF8);
        return type;
    }
}

/// Calls `write(buffer)` with the values as HDF5 takes them.
template <class T, class Write>
void write_values(const std::vector<T>& values, const Write& write)
{
    if constexpr (std::is_same_v<T, std::string>) {
        std::vector<const char*> pointers;
        pointers.reserve(values.size());
        for (const std::string& value : values) {
            pointers.push_back(value.c_str());
        }
        write(static_cast<const void*>(pointers.data()));
    } else {
        write(static_cast<const void*>(values.data()));
    }
}

/// Throws where a text that should have one line has a control character.
void check_one_line(const std::string& text, const std::string& what)
{
    if (const std::size_t at = find_control(text); at != std::string::npos) {
        throw std::runtime_error(
            fmt::format("cannot {} (\"{}\" contains the control character {}, which no text of a study has)",
                        what, escape_controls(text).substr(0, 60), control_name(text, at)));
    }
}

void check_one_line(const std::vector<std::string>& texts, const std::string& what)
{
    for (const std::string& text : texts) {
        check_one_line(text, what);
    }
}

template <class T>
void check_one_line(const std::vector<T>&, const std::string&)
{
}

std::uint64_t count_of(hid_t space, const std::string& what)
{
    return static_cast<std::uint64_t>(checked(H5Sget_simple_extent_npoints(space), what));
}

/// Whether T is read from values of this stored type.
template <class T>
void check_type(hid_t stored, const std::string& what)
{
    const bool text = H5Tget_class(stored) == H5T_STRING;
    if (text != std::is_same_v<T, std::string> || (text && H5Tis_variable_str(stored) <= 0)) {
        throw std::runtime_error(fmt::format("cannot {} (it has an unexpected type)", what));
    }
}

/// The `count` values that `read(buffer)` fills in; `space` describes the buffer.
template <class T, class Read>
std::vector<T> read_values(std::uint64_t count, hid_t memory, hid_t space, const std::string& what,
                           const Read& read)
{
    if (count == 0) {
        return {};
    }
    if constexpr (std::is_same_v<T, std::string>) {
        std::vector<char*> pointers(count, nullptr);
        checked(read(pointers.data()), what);
        std::vector<std::string> values;
        values.reserve(count);
        for (const char* pointer : pointers) {
            values.push_back(pointer == nullptr ? std::string() : std::string(pointer));
        }
        H5Dvlen_reclaim(memory, space, H5P_DEFAULT, pointers.data());
        return values;
    } else {
        std::vector<T> values(count);
        checked(read(values.data()), what);
        return values;
    }
}

/// The texts of a dataset, one by one: any number of them may refer to one long text of the file.
template <class Charge>
std::vector<std::string> read_texts(hid_t dataset, hid_t space, std::uint64_t count, hid_t type,
                                    const std::string& what, const Charge& charge)
{
    const int rank = checked(H5Sget_simple_extent_ndims(space), what);
    if (rank != 1) {
        throw std::runtime_error(fmt::format("cannot {} (it is not a list of texts)", what));
    }
    const hsize_t one = 1;
    const Scoped memory(H5Screate_simple(1, &one, nullptr), what);
    std::vector<std::string> values;
    for (hsize_t at = 0; at < count; ++at) {
        checked(H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, nullptr, &one, nullptr), what);
        std::vector<std::string> value = read_values<std::string>(1, type, memory, what, [&](void* data) {
            return H5Dread(dataset, type, memory, space, H5P_DEFAULT, data);
        });
        charge(value.front().size());
        values.push_back(std::move(value.front()));
    }
    return values;
}

/// Refuses what is stored elsewhere, before HDF5 opens that, and chunks larger than may be read.
void check_storage(hid_t dataset, std::uint64_t most_bytes, const std::string& what)
{
    const Scoped properties(H5Dget_create_plist(dataset), what);
    const H5D_layout_t layout = H5Pget_layout(properties);
    if (layout == H5D_VIRTUAL) {
        throw std::runtime_error(
            fmt::format("cannot {} (it is a virtual dataset, whose values are in other files)", what));
    }
    if (H5Pget_external_count(properties) > 0) {
        throw std::runtime_error(fmt::format("cannot {} (its values are in external files)", what));
    }
    if (layout == H5D_CHUNKED) {
        constexpr int most_dimensions = 32;  // H5S_MAX_RANK
        std::array<hsize_t, most_dimensions> chunk_shape{};
        const int rank = checked(H5Pget_chunk(properties, most_dimensions, chunk_shape.data()), what);
        const Scoped type(H5Dget_type(dataset), what);
        auto bytes = static_cast<double>(H5Tget_size(type));
        for (int d = 0; d < rank; ++d) {
            bytes *= static_cast<double>(chunk_shape.at(static_cast<std::size_t>(d)));
        }
        if (bytes > static_cast<double>(most_bytes)) {
            throw std::runtime_error(
                fmt::format("cannot {} (its chunks are larger than the content that may be read)", what));
        }
    }
}

/// `charge(count, bytes_each)` is called before the values are read.
template <class T, class Charge>
std::vector<T> read_attribute(hid_t object, const std::string& name, const Charge& charge)
{
    const std::string what = "read attribute " + name;
    const Scoped opened(H5Aopen(object, name.c_str(), H5P_DEFAULT), what);
    const Scoped stored(H5Aget_type(opened), what);
    const Scoped space(H5Aget_space(opened), what);
    const Scoped type(new_type<T>(), what);
    check_type<T>(stored, what);
    const std::uint64_t count = count_of(space, what);
    charge(count, what);
    return read_values<T>(count, type, space, what, [&](void* data) { return H5Aread(opened, type, data); });
}

template <class T>
T only_value(std::vector<T> values, const std::string& attribute)
{
    if (values.size() != 1) {
        throw std::runtime_error(
            fmt::format("cannot read attribute {} (it holds {} values, not one)", attribute, values.size()));
    }
    return std::move(values.front());
}

template <class T>
void write_attribute(hid_t object, const std::string& name, const std::vector<T>& values, hid_t new_space)
{
    const std::string what = "write attribute " + name;
    const Scoped space(new_space, what);
    const Scoped type(new_type<T>(), what);
    const Scoped attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), what);
    if (!values.empty()) {
        write_values(values, [&](const void* data) { checked(H5Awrite(attribute, type, data), what); });
    }
}

/// Refuses what HDF5 would look up elsewhere: names with folders, links to other
/// files, links of unknown kinds.
void check_link(hid_t group, const std::string& name, const std::string& what)
{
    if (name.empty() || name == "." || name.find('/') != std::string::npos) {
        throw std::runtime_error(fmt::format("cannot {} (it is not a name in its group)", what));
    }
    H5L_info_t link{};
    checked(H5Lget_info(group, name.c_str(), &link, H5P_DEFAULT), what);
    if (link.type != H5L_TYPE_HARD) {
        throw std::runtime_error(
            fmt::format("cannot {} (it is a link to {}, which no file of this program has)", what,
                        link.type == H5L_TYPE_SOFT ? "another name" : "another file"));
    }
}

/// Extent of the named scale, which has one dimension.
hsize_t length(hid_t group, const std::string& scale)
{
    const std::string what = "open dimension " + scale;
    const Scoped dataset(H5Dopen2(group, scale.c_str(), H5P_DEFAULT), what);
    const Scoped space(H5Dget_space(dataset), what);
    return static_cast<hsize_t>(checked(H5Sget_simple_extent_npoints(space), what));
}

template <class T>
hid_t create_dataset(hid_t group, const std::string& name, const std::vector<T>& values,
                     const std::vector<hsize_t>& shape)
{
    const std::string what = "write dataset " + name;
    const Scoped properties(H5Pcreate(H5P_DATASET_CREATE), what);
    H5Pset_obj_track_times(properties, false);
    if (!std::is_same_v<T, std::string> && values.size() >= compressed_from) {
        std::vector<hsize_t> chunks = shape;
        chunks[0] = std::min(chunks[0], chunk);
        H5Pset_chunk(properties, static_cast<int>(chunks.size()), chunks.data());
        H5Pset_shuffle(properties);
        H5Pset_deflate(properties, deflate_level);
    }
    const Scoped space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr), what);
    const Scoped type(new_type<T>(), what);
    const Scoped dataset(H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT),
                         what);
    if (!values.empty()) {
        write_values(values, [&](const void* data) {
            checked(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), what);
        });
    }
    H5Iinc_ref(dataset);  // for the caller
    return dataset;
}

void order_by_creation(hid_t properties)
{
    H5Pset_link_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_attr_creation_order(properties, H5P_CRT_ORDER_TRACKED | H5P_CRT_ORDER_INDEXED);
    H5Pset_obj_track_times(properties, false);
}

}  // namespace

Hdf5Object::Hdf5Object(Hdf5Object&& other) noexcept
    : id_(std::exchange(other.id_, H5I_INVALID_HID)), budget_(std::move(other.budget_))
{
}

Hdf5Object::~Hdf5Object()
{
    if (id_ >= 0) {
        H5Idec_ref(id_);
    }
}

Hdf5Object Hdf5Object::create_in_memory(std::uint64_t user_block)
{
    silence();
    const std::string what = "create a file in memory";
    const Scoped creation(H5Pcreate(H5P_FILE_CREATE), what);
    order_by_creation(creation);
    checked(H5Pset_userblock(creation, user_block), what);
    const Scoped access(H5Pcreate(H5P_FILE_ACCESS), what);
    H5Pset_fapl_core(access, memory_step, false);
    return Hdf5Object(checked(H5Fcreate("results", H5F_ACC_TRUNC, creation, access), what));
}

Hdf5Object Hdf5Object::open_file(const std::string& path)
{
    silence();
    check_global_heaps(path);
    const Scoped access(H5Pcreate(H5P_FILE_ACCESS), "open the file");
    // Files are replaced by renaming, never changed in place, and many cluster file systems have no locks.
    H5Pset_file_locking(access, false, true);
    std::error_code error;
    const std::uint64_t bytes = std::filesystem::file_size(path, error);
    const Budget budget{error ? 0 : bytes, hdf5_content_limit(error ? 0 : bytes)};
    return Hdf5Object(checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), "open the file"),
                      std::make_shared<Budget>(budget));
}

std::vector<std::byte> Hdf5Object::image() const
{
    const std::string what = "make the file's bytes";
    checked(H5Fflush(id_, H5F_SCOPE_GLOBAL), what);
    const ssize_t size = checked(H5Fget_file_image(id_, nullptr, 0), what);
    std::vector<std::byte> bytes(static_cast<std::size_t>(size));
    checked(H5Fget_file_image(id_, bytes.data(), bytes.size()), what);
    return bytes;
}

Hdf5Object Hdf5Object::create_group(const std::string& name) const
{
    const std::string what = "create group " + name;
    const Scoped creation(H5Pcreate(H5P_GROUP_CREATE), what);
    order_by_creation(creation);
    return Hdf5Object(checked(H5Gcreate2(id_, name.c_str(), H5P_DEFAULT, creation, H5P_DEFAULT), what));
}

Hdf5Object Hdf5Object::open(const std::string& name) const
{
    const std::string what = "open " + name;
    check_link(id_, name, what);
    return Hdf5Object(checked(H5Oopen(id_, name.c_str(), H5P_DEFAULT), what), budget_);
}

template <class T>
Hdf5Object Hdf5Object::create_scale(const std::string& name, const std::vector<T>& values) const
{
    const hid_t dataset = create_dataset(id_, name, values, {values.size()});
    Hdf5Object object(dataset);
    checked(H5DSset_scale(dataset, name.c_str()), "make " + name + " a dimension");
    return object;
}

template <class T>
Hdf5Object Hdf5Object::create_column(const std::string& name, const std::vector<T>& values,
                                     const std::vector<std::string>& dimensions) const
{
    std::vector<hsize_t> shape;
    hsize_t elements = 1;
    for (const std::string& dimension : dimensions) {
        shape.push_back(length(id_, dimension));
        elements *= shape.back();
    }
    assert(elements == values.size());
    const hid_t dataset = create_dataset(id_, name, values, shape);
    Hdf5Object object(dataset);
    for (std::size_t d = 0; d < dimensions.size(); ++d) {
        const std::string what = "attach dimension " + dimensions[d];
        const Scoped scale(H5Dopen2(id_, dimensions[d].c_str(), H5P_DEFAULT), what);
        checked(H5DSattach_scale(dataset, scale, static_cast<unsigned>(d)), what);
    }
    return object;
}

void Hdf5Object::charge(std::uint64_t count, std::uint64_t bytes_each, const std::string& what) const
{
    if (budget_ == nullptr) {
        return;
    }
    if (count > budget_->left / std::max<std::uint64_t>(bytes_each, 1)) {
        throw std::runtime_error(fmt::format(
            "cannot {} (its {} values exceed the {} bytes of content that are read of a file of {} bytes)",
            what, count, hdf5_content_limit(budget_->file_bytes), budget_->file_bytes));
    }
    budget_->left -= count * bytes_each;
}

template <class T>
void Hdf5Object::charge_attribute(std::uint64_t count, const std::string& what) const
{
    const Budget* budget = budget_.get();
    if (std::is_same_v<T, std::string> && budget != nullptr && count > 1 &&
        count > budget->left / (budget->file_bytes + 1)) {
        throw std::runtime_error(
            fmt::format("cannot {} (it holds {} texts, too many for the file)", what, count));
    }
    charge(count, sizeof(T), what);
}

std::int64_t Hdf5Object::open_dataset(const std::string& name, const std::string& what) const
{
    check_link(id_, name, what);
    Hdf5Object dataset(checked(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), what));
    if (budget_ != nullptr) {
        check_storage(dataset.id_, budget_->left, what);
    }
    return std::exchange(dataset.id_, H5I_INVALID_HID);
}

std::uint64_t Hdf5Object::size(const std::string& name) const
{
    const std::string what = "read dataset " + name;
    const Scoped dataset(open_dataset(name, what), what);
    const Scoped space(H5Dget_space(dataset), what);
    return count_of(space, what);
}

template <class T>
std::vector<T> Hdf5Object::read(const std::string& name) const
{
    const std::string what = "read dataset " + name;
    const Scoped dataset(open_dataset(name, what), what);
    const Scoped stored(H5Dget_type(dataset), what);
    const Scoped space(H5Dget_space(dataset), what);
    const Scoped type(new_type<T>(), what);
    check_type<T>(stored, what);
    const std::uint64_t count = count_of(space, what);
    charge(count, sizeof(T), what);
    if constexpr (std::is_same_v<T, std::string>) {
        std::vector<T> values =
            read_texts(dataset, space, count, type, what, [&](std::size_t bytes) { charge(1, bytes, what); });
        check_one_line(values, what);
        return values;
    } else {
        return read_values<T>(count, type, space, what, [&](void* data) {
            return H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
        });
    }
}

template <class T>
void Hdf5Object::set(const std::string& attribute, const T& value) const
{
    write_attribute<T>(id_, attribute, {value}, H5Screate(H5S_SCALAR));
}

template <class T>
void Hdf5Object::set_list(const std::string& attribute, const std::vector<T>& values) const
{
    const hsize_t size = values.size();
    write_attribute(id_, attribute, values, H5Screate_simple(1, &size, nullptr));
}

bool Hdf5Object::has_dataset(const std::string& name) const
{
    return H5Lexists(id_, name.c_str(), H5P_DEFAULT) > 0;
}

bool Hdf5Object::has(const std::string& attribute) const { return H5Aexists(id_, attribute.c_str()) > 0; }

template <class T>
T Hdf5Object::get(const std::string& attribute) const
{
    return only_value(get_list<T>(attribute), attribute);
}

template <class T>
std::vector<T> Hdf5Object::get_list(const std::string& attribute) const
{
    std::vector<T> values =
        read_attribute<T>(id_, attribute, [this](std::uint64_t count, const std::string& what) {
            charge_attribute<T>(count, what);
        });
    check_one_line(values, "read attribute " + attribute);
    return values;
}

std::string Hdf5Object::get_document(const std::string& attribute) const
{
    return only_value(read_attribute<std::string>(id_, attribute,
                                                  [this](std::uint64_t count, const std::string& what) {
                                                      charge_attribute<std::string>(count, what);
                                                  }),
                      attribute);
}

std::string hdf5_version()
{
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    H5get_libversion(&major, &minor, &release);
    return fmt::format("{}.{}.{}", major, minor, release);
}

bool is_hdf5(const std::string& path)
{
    silence();
    return H5Fis_hdf5(path.c_str()) > 0;
}

#define PRISMOPT_HDF5_ELEMENT(T)                                                                   \
    template Hdf5Object Hdf5Object::create_scale(const std::string&, const std::vector<T>&) const; \
    template Hdf5Object Hdf5Object::create_column(const std::string&, const std::vector<T>&,       \
                                                  const std::vector<std::string>&) const;          \
    template std::vector<T> Hdf5Object::read(const std::string&) const;                            \
    template void Hdf5Object::set(const std::string&, const T&) const;                             \
    template void Hdf5Object::set_list(const std::string&, const std::vector<T>&) const;           \
    template T Hdf5Object::get(const std::string&) const;                                          \
    template std::vector<T> Hdf5Object::get_list(const std::string&) const

PRISMOPT_HDF5_ELEMENT(std::int8_t);
PRISMOPT_HDF5_ELEMENT(std::int32_t);
PRISMOPT_HDF5_ELEMENT(std::uint64_t);
PRISMOPT_HDF5_ELEMENT(double);
PRISMOPT_HDF5_ELEMENT(std::string);

}  // namespace prismopt
