// SPDX-License-Identifier: Apache-2.0
#pragma once
// A connection to the server that the environment names.
#include <sys/types.h>

#include "mad/sim/attach/protocol.h"

namespace smd::sim::attach {

/// The program is attached: both variables are there.
bool attached();
/// Is `fd` one end of a connection to our server? Two system calls.
bool is_connection(int fd);

struct Opened {
  int fd = -1;      ///< -1: errno says why
  int memory = -1;  ///< the file that came with the Reply
  uint32_t size = 0;
};
/// Says Hello and waits for the Reply. `close_on_exec` of the connection; a memory file always has it.
Opened connect_as(Kind kind, uint32_t index, bool wait, bool close_on_exec);

/// sendmsg with a descriptor next to the bytes (-1: none); waits where the socket is full.
ssize_t send_all(int fd, const void* bytes, size_t size, int descriptor);
/// recvmsg; takes a descriptor that comes with it (-1: none came).
ssize_t receive(int fd, void* bytes, size_t size, int flags, int* descriptor);

}  // namespace smd::sim::attach
