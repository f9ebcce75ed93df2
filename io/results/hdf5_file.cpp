#include "io/results/hdf5_file.hpp"

#include <hdf5.h>
#include <hdf5_hl.h>
#include <algorithm>
#include <cassert>
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

/// The values that `read(buffer)` fills in, of a dataset or attribute with this stored type and extent.
template <class T, class Read>
std::vector<T> read_values(hid_t stored, hid_t memory, hid_t space, const std::string& what, const Read& read)
{
    const auto count = static_cast<std::size_t>(checked(H5Sget_simple_extent_npoints(space), what));
    const bool text = H5Tget_class(stored) == H5T_STRING;
    if (text != std::is_same_v<T, std::string> || (text && H5Tis_variable_str(stored) <= 0)) {
        throw std::runtime_error("cannot " + what + " (it has an unexpected type)");
    }
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

/// Extent of the named scale, which has one dimension.
hsize_t length(hid_t group, const std::string& scale)
{
    const std::string what = "open dimension " + scale;
    const Scoped dataset(H5Dopen2(group, scale.c_str(), H5P_DEFAULT), what);
    const Scoped space(H5Dget_space(dataset), what);
    return static_cast<hsize_t>(checked(H5Sget_simple_extent_npoints(space), what));
}

template <class T>
hid_t create_dataset(hid_t group, const std::string& name, const std::vector<T>& values, const std::vector<hsize_t>& shape)
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
    const Scoped dataset(H5Dcreate2(group, name.c_str(), type, space, H5P_DEFAULT, properties, H5P_DEFAULT), what);
    if (!values.empty()) {
        write_values(values,
                     [&](const void* data) { checked(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), what); });
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

Hdf5Object::Hdf5Object(Hdf5Object&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}

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
    const Scoped access(H5Pcreate(H5P_FILE_ACCESS), "open the file");
    // Files are replaced by renaming, never changed in place, and many cluster file systems have no locks.
    H5Pset_file_locking(access, false, true);
    return Hdf5Object(checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access), "open the file"));
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
    return Hdf5Object(checked(H5Oopen(id_, name.c_str(), H5P_DEFAULT), "open " + name));
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

template <class T>
std::vector<T> Hdf5Object::read(const std::string& name) const
{
    const std::string what = "read dataset " + name;
    const Scoped dataset(H5Dopen2(id_, name.c_str(), H5P_DEFAULT), what);
    const Scoped stored(H5Dget_type(dataset), what);
    const Scoped space(H5Dget_space(dataset), what);
    const Scoped type(new_type<T>(), what);
    return read_values<T>(stored, type, space, what,
                          [&](void* data) { return H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data); });
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

bool Hdf5Object::has_dataset(const std::string& name) const { return H5Lexists(id_, name.c_str(), H5P_DEFAULT) > 0; }

bool Hdf5Object::has(const std::string& attribute) const { return H5Aexists(id_, attribute.c_str()) > 0; }

template <class T>
T Hdf5Object::get(const std::string& attribute) const
{
    std::vector<T> values = get_list<T>(attribute);
    if (values.size() != 1) {
        throw std::runtime_error("cannot read attribute " + attribute + " (it holds " + std::to_string(values.size()) +
                                 " values, not one)");
    }
    return std::move(values.front());
}

template <class T>
std::vector<T> Hdf5Object::get_list(const std::string& attribute) const
{
    const std::string what = "read attribute " + attribute;
    const Scoped opened(H5Aopen(id_, attribute.c_str(), H5P_DEFAULT), what);
    const Scoped stored(H5Aget_type(opened), what);
    const Scoped space(H5Aget_space(opened), what);
    const Scoped type(new_type<T>(), what);
    return read_values<T>(stored, type, space, what, [&](void* data) { return H5Aread(opened, type, data); });
}

std::string hdf5_version()
{
    unsigned major = 0;
    unsigned minor = 0;
    unsigned release = 0;
    H5get_libversion(&major, &minor, &release);
    return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

bool is_hdf5(const std::string& path)
{
    silence();
    return H5Fis_hdf5(path.c_str()) > 0;
}

#define PRISMOPT_HDF5_ELEMENT(T)                                                                                              \
    template Hdf5Object Hdf5Object::create_scale(const std::string&, const std::vector<T>&) const;                            \
    template Hdf5Object Hdf5Object::create_column(const std::string&, const std::vector<T>&, const std::vector<std::string>&) \
        const;                                                                                                                \
    template std::vector<T> Hdf5Object::read(const std::string&) const;                                                       \
    template void Hdf5Object::set(const std::string&, const T&) const;                                                        \
    template void Hdf5Object::set_list(const std::string&, const std::vector<T>&) const;                                      \
    template T Hdf5Object::get(const std::string&) const;                                                                     \
    template std::vector<T> Hdf5Object::get_list(const std::string&) const

PRISMOPT_HDF5_ELEMENT(std::int8_t);
PRISMOPT_HDF5_ELEMENT(std::int32_t);
PRISMOPT_HDF5_ELEMENT(std::uint64_t);
PRISMOPT_HDF5_ELEMENT(double);
PRISMOPT_HDF5_ELEMENT(std::string);

}  // namespace prismopt
