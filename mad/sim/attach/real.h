// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions behind those that the library stands in front of, and system calls that no thread can be
// cancelled in (a lock may be held).
#include <dirent.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

namespace smd::sim::attach {

/// The next definition of a symbol after ours, found at its first use.
template <class Function>
class Real {
 public:
  /// `name` is a string literal; nothing is looked up yet.
  explicit constexpr Real(const char* name) : name_(name) {}
  /// From any thread; two first calls at once find the same address.
  template <class... Args>
  auto operator()(Args... args) {
    auto* found = __atomic_load_n(&function_, __ATOMIC_RELAXED);
    if (found == nullptr) __atomic_store_n(&function_, found = look_up(), __ATOMIC_RELAXED);
    return found(args...);
  }

 private:
  Function* look_up() const;
  const char* name_;
  Function* function_ = nullptr;
};

/// The address that dlsym(RTLD_NEXT) finds; aborts where there is none.
void* next_symbol(const char* name);

template <class Function>
Function* Real<Function>::look_up() const {
  return reinterpret_cast<Function*>(next_symbol(name_));
}

// Raw: no cancellation point, errno as usual.
/// As close().
int raw_close(int fd);
ssize_t raw_receive(int fd, msghdr* message, int flags);              ///< as recvmsg()
ssize_t raw_send(int fd, const msghdr* message, int flags);           ///< as sendmsg()
ssize_t raw_send(int fd, const void* bytes, size_t size, int flags);  ///< as send()

/// Held by one thread of this process. A lock that a fork has copied from another thread is not held here.
class Lock {
 public:
  /// Waits (sched_yield) until `holder` is 0 or a parent process's, and writes this process's id there.
  explicit Lock(int& holder);
  ~Lock();
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int& holder_;
};

/// From now on forks are told from children of vfork().
void watch_forks();
/// This is a child that still has its parent's memory, until it starts a program: what it does to its
/// descriptors and its folder must not be noted.
bool shares_memory();

/// Sets errno and returns -1.
int fail(int error);

}  // namespace smd::sim::attach
