// SPDX-License-Identifier: Apache-2.0
#pragma once
// umad and issm devices: what open, read, write and ioctl do with them. All answer as the system calls do.
#include <stddef.h>
#include <sys/types.h>

#include "mad/sim/attach/tree.h"

namespace smd::sim::attach {

/// umadN and issmN only, else ENOENT. An issm device waits for its turn unless O_NONBLOCK is given.
int open_device(const Path& path, int flags);

/// Nothing is taken where the buffer is too small: EINVAL for one MAD, ENOSPC and the first segment for more.
ssize_t read_device(int fd, void* buffer, size_t size);
/// One MAD with its umad header. EINVAL: too short, or its agent is not registered; EIO: the server is gone.
ssize_t write_device(int fd, const void* buffer, size_t size);
/// True: a request of the umad device, and `result` is the answer.
bool control_device(int fd, unsigned long request, void* argument, int* result);

}  // namespace smd::sim::attach
