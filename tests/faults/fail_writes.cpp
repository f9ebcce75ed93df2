/// A library to preload: fails one of the calls that change files of one folder, or ends the process there.
///
/// PRISMOPT_FAULT_FOLDER  files below it count, and their calls are numbered from 1 across the process
/// PRISMOPT_FAULT_AT      number of the call that fails; 0: none
/// PRISMOPT_FAULT         what happens: ENOSPC or EIO once, "full": ENOSPC from there on, "short":
/// half of a write is written and
///                        the next call gets ENOSPC, "kill": SIGKILL before the call
/// PRISMOPT_FAULT_LOG     file outside of the folder that gets a line per call, `number name`

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

enum class Fault { none, once, full, shortened, kill };

struct Plan {
    std::string folder;
    long at = 0;
    Fault fault = Fault::none;
    int error = ENOSPC;
    int log = -1;
};

template <class Function>
Function* next(const char* name)
{
    return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

const char* variable(const char* name)
{
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read once, before any thread
    return value == nullptr ? "" : value;
}

const Plan& plan()
{
    static const Plan made = [] {
        Plan plan;
        char folder[PATH_MAX];
        if (::realpath(variable("PRISMOPT_FAULT_FOLDER"), folder) != nullptr) {
            plan.folder = std::string(folder) + '/';
        }
        plan.at = std::atol(variable("PRISMOPT_FAULT_AT"));
        const std::string fault = variable("PRISMOPT_FAULT");
        plan.fault = fault == "full"    ? Fault::full
                     : fault == "short" ? Fault::shortened
                     : fault == "kill"  ? Fault::kill
                     : fault.empty()    ? Fault::none
                                        : Fault::once;
        plan.error = fault == "EIO" ? EIO : ENOSPC;
        if (const std::string log = variable("PRISMOPT_FAULT_LOG"); !log.empty()) {
            plan.log = next<int(const char*, int, ...)>(
                "open")(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        }
        return plan;
    }();
    return made;
}

/// What the call is to do.
enum class Verdict { go_on, fail, half };

Verdict judge(const char* name)
{
    static long calls = 0;
    const long number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    const Plan& p = plan();
    if (p.log >= 0) {
        char line[64];
        const int length = std::snprintf(line, sizeof line, "%ld %s\n", number, name);
        [[maybe_unused]] const auto ignored = next<ssize_t(int, const void*, std::size_t)>(
            "write")(p.log, line, static_cast<std::size_t>(length));
    }
    if (p.at == 0 || number < p.at) {
        return Verdict::go_on;
    }
    switch (p.fault) {
        case Fault::none: return Verdict::go_on;
        case Fault::once: return number == p.at ? Verdict::fail : Verdict::go_on;
        case Fault::full: return Verdict::fail;
        case Fault::shortened:
            return number == p.at ? Verdict::half : number == p.at + 1 ? Verdict::fail : Verdict::go_on;
        case Fault::kill: ::kill(::getpid(), SIGKILL); return Verdict::fail;
    }
    return Verdict::go_on;
}

bool counts(const std::string& path)
{
    if (plan().folder.empty()) {
        return false;
    }
    std::string whole = path;
    if (path.empty() || path.front() != '/') {
        char folder[PATH_MAX];
        whole = ::getcwd(folder, sizeof folder) == nullptr ? path : std::string(folder) + '/' + path;
    }
    return whole.starts_with(plan().folder);
}

bool counts(int descriptor)
{
    if (plan().folder.empty()) {
        return false;
    }
    char path[PATH_MAX];
    const ssize_t length =
        ::readlink(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), path, sizeof path);
    return length > 0 && std::string(path, static_cast<std::size_t>(length)).starts_with(plan().folder);
}

int failed()
{
    errno = plan().error;
    return -1;
}

bool writes(int flags) { return (flags & (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC)) != 0; }

int open_by(const char* name, const char* path, int flags, mode_t mode)
{
    if (writes(flags) && counts(std::string(path)) && judge("open") != Verdict::go_on) {
        return failed();
    }
    return next<int(const char*, int, ...)>(name)(path, flags, mode);
}

int open_at_by(const char* name, int folder, const char* path, int flags, mode_t mode)
{
    if (writes(flags) && counts(std::string(path)) && judge("open") != Verdict::go_on) {
        return failed();
    }
    return next<int(int, const char*, int, ...)>(name)(folder, path, flags, mode);
}

std::FILE* fopen_by(const char* name, const char* path, const char* mode)
{
    if (std::strpbrk(mode, "wa+") != nullptr && counts(std::string(path)) &&
        judge("open") != Verdict::go_on) {
        errno = plan().error;
        return nullptr;
    }
    return next<std::FILE*(const char*, const char*)>(name)(path, mode);
}

mode_t mode_of(int flags, std::va_list arguments)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...)
{
    std::va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_by("open", path, flags, mode);
}

int open64(const char* path, int flags, ...)
{
    std::va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_by("open64", path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...)
{
    std::va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_at_by("openat", folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...)
{
    std::va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = mode_of(flags, arguments);
    va_end(arguments);
    return open_at_by("openat64", folder, path, flags, mode);
}

std::FILE* fopen(const char* path, const char* mode) { return fopen_by("fopen", path, mode); }
std::FILE* fopen64(const char* path, const char* mode) { return fopen_by("fopen64", path, mode); }

ssize_t write(int descriptor, const void* bytes, std::size_t count)
{
    static auto* const real = next<ssize_t(int, const void*, std::size_t)>("write");
    const Verdict verdict = counts(descriptor) ? judge("write") : Verdict::go_on;
    return verdict == Verdict::fail
               ? failed()
               : real(descriptor, bytes, verdict == Verdict::half ? (count + 1) / 2 : count);
}

ssize_t pwrite(int descriptor, const void* bytes, std::size_t count, off_t place)
{
    static auto* const real = next<ssize_t(int, const void*, std::size_t, off_t)>("pwrite");
    const Verdict verdict = counts(descriptor) ? judge("pwrite") : Verdict::go_on;
    return verdict == Verdict::fail
               ? failed()
               : real(descriptor, bytes, verdict == Verdict::half ? (count + 1) / 2 : count, place);
}

ssize_t pwrite64(int descriptor, const void* bytes, std::size_t count, off64_t place)
{
    return pwrite(descriptor, bytes, count, place);
}

ssize_t writev(int descriptor, const iovec* buffers, int count)
{
    static auto* const real = next<ssize_t(int, const iovec*, int)>("writev");
    const Verdict verdict = counts(descriptor) ? judge("writev") : Verdict::go_on;
    return verdict == Verdict::fail ? failed()
                                    : real(descriptor, buffers, verdict == Verdict::half ? 1 : count);
}

int fsync(int descriptor)
{
    static auto* const real = next<int(int)>("fsync");
    return counts(descriptor) && judge("fsync") != Verdict::go_on ? failed() : real(descriptor);
}

int fdatasync(int descriptor)
{
    static auto* const real = next<int(int)>("fdatasync");
    return counts(descriptor) && judge("fdatasync") != Verdict::go_on ? failed() : real(descriptor);
}

int ftruncate(int descriptor, off_t size)
{
    static auto* const real = next<int(int, off_t)>("ftruncate");
    return counts(descriptor) && judge("ftruncate") != Verdict::go_on ? failed() : real(descriptor, size);
}

int ftruncate64(int descriptor, off64_t size) { return ftruncate(descriptor, size); }

int rename(const char* from, const char* to)
{
    static auto* const real = next<int(const char*, const char*)>("rename");
    return counts(std::string(to)) && judge("rename") != Verdict::go_on ? failed() : real(from, to);
}

}  // extern "C"
