// SPDX-License-Identifier: Apache-2.0
#pragma once
// What the preload library and the server of a simulated fabric say to each other, over a Unix socket of type
// SOCK_SEQPACKET. Private: both come from one build, and kHelloMagic changes when anything here does.
//
// A connection begins with a Hello and the attached places (one a line), answered by a Reply. Then:
//   tree     the Reply brings a memory file: all files that the program may see, as "path\0content\0" each
//   umad     what is written is a struct ib_user_mad, as to the kernel's device; so is what is read. One MAD
//            more than kInlineMad long travels as a memory file beside its header and first bytes
//   issm     held until the connection ends
//   control  each message is a command, each answer a Reply and text; a command or text of more than
//            kInlineText travels as a memory file beside its first bytes or the Reply
// On a umad connection a message with a descriptor is a Call.
#include <stddef.h>
#include <stdint.h>

namespace smd::sim::attach {

inline constexpr char kHelloMagic[8] = {'s', 'm', 'd', 's', 'i', 'm', '0', '2'};
inline constexpr char kCallMagic[8] = {'s', 'm', 'd', 'c', 'a', 'l', 'l', '1'};

enum class Kind : uint32_t { tree = 1, umad = 2, issm = 3, control = 4 };

struct Hello {
  char magic[8];
  Kind kind;
  uint32_t index;  ///< N of umadN or issmN
  uint32_t wait;   ///< of issm: 1 waits until no other process holds it
  uint32_t pid;
};

struct Reply {
  int32_t error;  ///< errno; 0: done
  uint32_t size;  ///< bytes that follow, in this message or in the memory file with it
};

enum class Operation : uint32_t {
  control = 1,  ///< an ioctl: request and its argument; answered by a Reply and the argument
  write = 2,    ///< the descriptor is a memory file that holds a whole struct ib_user_mad; no answer
  agent = 3,    ///< is the agent `request` registered? Reply.error says
};

struct Call {
  char magic[8];
  Operation operation;
  uint32_t request;
  uint32_t size;  ///< of the argument or of the memory file
  uint32_t unused;
  unsigned char argument[64];
};

inline constexpr size_t kHeader = 64,
                        kOldHeader = 56;  ///< of struct ib_user_mad, with and without P_Key index
inline constexpr size_t kInlineMad = 256;
inline constexpr size_t kShortestMad = 36;  ///< what the kernel wants at least behind the header

inline constexpr size_t kLongestHello = 4096;  ///< with the places
inline constexpr size_t kInlineText = 4096;

// Several MADs that wait for a program may come in one message: kBatchMagic, then each as a Part and its
// bytes. The library looks at it and takes it away with its last MAD, so that the descriptor is readable
// until then.
inline constexpr char kBatchMagic[8] = {'s', 'm', 'd', 'b', 'a', 't', 'c', '1'};
inline constexpr size_t kBatchBytes = 16'384;
struct Part {
  uint32_t size;
};

inline constexpr char kSocketVariable[] = "SMD_SIM_SOCKET";
inline constexpr char kPlacesVariable[] = "SMD_SIM_PLACES";

}  // namespace smd::sim::attach
