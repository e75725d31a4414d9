// SPDX-License-Identifier: Apache-2.0
#pragma once
// Reads the lines of a fabric file into nodes and into claims of links, which linker.h joins.

#include <array>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "mad/base/error_list.h"
#include "mad/base/fabric_file.h"
#include "mad/base/net/line.h"

namespace smd::base::net {

/// A line of a file; includes make several files.
struct Place {
  std::uint32_t file = 0, line = 0;
};

/// What one port line says of its cable.
struct Claim {
  NodeIndex node = 0;
  PortNum port;
  std::string_view remote_id;
  std::uint64_t remote_port = 0;
  Guid remote_guid;
  Lid remote_lid;
  bool has_rate = false;
  Enabled enabled;
  Place place;
};

/// All that the lines of a file and its includes say, not yet linked.
struct Lines {
  Fabric fabric;
  std::vector<Place> node_places;  ///< by NodeIndex
  std::vector<Claim> claims;
  std::unordered_map<std::string_view, NodeIndex> ids;
  std::map<std::string, Peer, std::less<>> aliases;  ///< ibsim's `@[1] "NAME"`, as "module@NAME"
  std::vector<std::string> files;
  std::deque<std::string> texts;  ///< owns what views above point to: includes, names with a module in front
  ErrorList errors;
  bool nodes_missing = false;  ///< a node's line was bad: links to it are not worth an error each

  /// Adds an error at this line; `place.file` is an index into `files`. Without a full stop.
  void error(Place place, std::string what) { errors.add(files[place.file], place.line, std::move(what)); }
  /// "line 5", or "file:5" where that is another file than the one the message is about.
  std::string refer(Place to, Place from) const;
};

class Reader {
 public:
  /// `open_include` opens the files of include lines; it must outlive the reader.
  explicit Reader(const OpenInclude& open_include) : open_include_(open_include) {}
  /// Reads a file and its includes; errors go to lines().errors. `text` has to outlive lines(), which keeps
  /// views into it. `file_name` is used in messages only.
  void read(std::string_view text, std::string file_name);
  Lines& lines() { return lines_; }

 private:
  /// What the lines in front of a node's line say about it.
  struct Ahead {
    std::uint32_t vendor_id = 0;
    std::uint16_t device_id = 0;
    Guid system_image;
    std::optional<Guid> guid, port_guid;
  };
  /// ibsim counts up from a base for nodes that the file gives no GUID.
  struct GuidBase {
    std::uint64_t base = 0, next = 0;
  };

  void read_line(std::string_view line);
  bool read_node(std::string_view line);
  bool read_assignment(std::string_view line);
  bool read_directive(std::string_view line);
  void add_node(const NodeLine& line);
  Guid take_guid(const NodeLine& line);
  void add_port(std::string_view line);
  void set_guid(NodeType type, std::string_view value, bool relative);
  void set_number(std::string_view key, std::string_view value);
  void include(std::string_view name);
  std::string_view with_module(std::string_view id);
  void error(std::string what) { lines_.error(place_, std::move(what)); }

  const OpenInclude& open_include_;
  Lines lines_;
  Place place_;
  std::vector<std::string> open_files_;  ///< being read, for includes that go round
  bool started_ = false;                 ///< a line of the format was seen: what comes has to be one too
  std::optional<NodeIndex> node_;        ///< whose port lines these are
  bool bad_node_ = false;                ///< the last node's line was bad: its port lines are passed over
  std::vector<bool> port_seen_;          ///< of node_
  Ahead ahead_;
  Enabled enabled_;
  std::string module_;
  std::array<GuidBase, 4> guids_{
      GuidBase{}, {0x100000, 0x100000}, {0x200000, 0x200000}, {0x300000, 0x300000}};
};

}  // namespace smd::base::net
