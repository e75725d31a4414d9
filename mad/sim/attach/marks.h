// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the library knows of the program's descriptors.
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "mad/sim/attach/protocol.h"

namespace smd::sim::attach {

/// The message that is next in a device's socket, as far as it was looked at; shared by copies of a
/// descriptor. Never freed, as a thread may still read from a descriptor that another closes, but used again.
struct Next {
  int lock = 0;
  int users = 0;            ///< descriptors; 0: free
  size_t at = 0, size = 0;  ///< of a batch that is being read; else 0
  Next* other = nullptr;    ///< in the list of the free ones
  unsigned char bytes[kBatchBytes];
};

enum class Served : unsigned char { nothing, device, file, folder };

struct Mark {
  Served what = Served::nothing;
  unsigned char old_header = 0;  ///< 1: without the P_Key index
  uint32_t agents = 0;           ///< known to be registered
  Next* next = nullptr;          ///< made at the first read
  ino_t memory = 0;              ///< of a file or folder: the memory file's own number
  ino_t shown = 0;               ///< and the one that the program sees
};

/// Null: above what is known; such a descriptor works as long as each message fits into the reader's buffer.
Mark* mark_of(int fd);
/// Marks the descriptor as a umad or issm device; ignored above the marks that there are.
void mark_device(int fd);
/// A memory file that stands for a served file, or holds the path of a folder.
void mark_memory(int fd, Served what, ino_t shown);
/// Of a descriptor that is marked; null where there is no memory for it.
Next* next_of(Mark& known);

/// The descriptor is a device's; quick. Descriptors that came by exec are found when the library starts.
bool is_device(int fd);
/// The descriptor is a served folder's, of which there is nothing to read.
bool is_folder(int fd);
/// The mark of a served file or folder that the descriptor still is; else null.
const Mark* memory_mark(int fd);
/// `to` is what `from` is from now on (dup). -1: it is closed.
void copy_mark(int from, int to);
/// Forgets the marks of descriptors `first` to `last`: they are closed.
void drop_marks(unsigned first, unsigned last);
/// Marks devices that were open at exec(), from /proc/self/fd. Once, at start.
void find_inherited();

}  // namespace smd::sim::attach
