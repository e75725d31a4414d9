// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/attach/real.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace smd::sim::attach {
namespace {

int owner = 0;  ///< of this memory: a process; 0: not taken
void become_owner() { owner = getpid(); }

}  // namespace

void watch_forks() {
  become_owner();
  pthread_atfork(nullptr, nullptr, become_owner);
}

bool shares_memory() { return owner != 0 && getpid() != owner; }

void* next_symbol(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) abort();  // a libc without it cannot have called us either
  return found;
}

int raw_close(int fd) { return static_cast<int>(syscall(SYS_close, fd)); }
ssize_t raw_receive(int fd, msghdr* message, int flags) { return syscall(SYS_recvmsg, fd, message, flags); }
ssize_t raw_send(int fd, const msghdr* message, int flags) {
  return syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t raw_send(int fd, const void* bytes, size_t size, int flags) {
  return syscall(SYS_sendto, fd, bytes, size, flags, nullptr, 0);
}

Lock::Lock(int& holder) : holder_(holder) {
  const int us = getpid();
  for (;;) {
    int seen = 0;
    if (__atomic_compare_exchange_n(&holder_, &seen, us, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) return;
    const bool of_parent = seen != us;
    if (of_parent &&
        __atomic_compare_exchange_n(&holder_, &seen, us, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
      return;
    }
    sched_yield();
  }
}

Lock::~Lock() { __atomic_store_n(&holder_, 0, __ATOMIC_RELEASE); }

int fail(int error) {
  errno = error;
  return -1;
}

}  // namespace smd::sim::attach
