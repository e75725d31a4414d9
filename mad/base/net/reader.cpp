// SPDX-License-Identifier: Apache-2.0
#include "mad/base/net/reader.h"

#include <algorithm>

#include "mad/base/lines.h"

namespace smd::base::net {
namespace {

struct TypeWord {
  std::string_view word;
  NodeType type;
};
constexpr std::array kTypes{TypeWord{"Switch", NodeType::switch_}, TypeWord{"Ca", NodeType::ca},
                            TypeWord{"Hca", NodeType::ca}, TypeWord{"Rt", NodeType::router}};
constexpr std::array kGuidKeys{
    TypeWord{"switchguid", NodeType::switch_}, TypeWord{"switchguids", NodeType::switch_},
    TypeWord{"caguid", NodeType::ca},          TypeWord{"caguids", NodeType::ca},
    TypeWord{"hcaguids", NodeType::ca},        TypeWord{"hcaguid", NodeType::ca},
    TypeWord{"rtguid", NodeType::router},      TypeWord{"rtguids", NodeType::router}};
/// Headings of `ibnetdiscover -g`, warnings of the tools in a captured output, a switch of ibsim's own
/// parser.
constexpr std::array<std::string_view, 6> kNoise{
    "Chassis ", "Non-Chassis Nodes", "Hostname:", "ibwarn:", "src/", "pdebug"};

std::string_view without_comment(std::string_view text) { return trim(text.substr(0, text.find('#'))); }

/// `[1]…` or ibsim's `@[1]…`; `[log]` is another program's format.
bool is_port_line(std::string_view line) {
  if (line.starts_with('@')) line.remove_prefix(1);
  return line.size() > 1 && line[0] == '[' &&
         std::string_view(" 0123456789").find(line[1]) != std::string_view::npos;
}

/// The GUID that ids of ibnetdiscover hold: "S-0002c90000000010".
std::optional<Guid> guid_of_id(std::string_view id) {
  if (id.size() != 18 || id[1] != '-' || std::string_view("SHR").find(id[0]) == std::string_view::npos) {
    return std::nullopt;
  }
  return parse_guid(id.substr(2));
}

}  // namespace

std::string Lines::refer(Place to, Place from) const {
  return to.file == from.file ? fmt::format("line {}", to.line)
                              : fmt::format("{}:{}", files[to.file], to.line);
}

void Reader::read(std::string_view text, std::string file_name) {
  const auto caller = place_;
  place_ = {static_cast<std::uint32_t>(lines_.files.size()), 0};
  lines_.files.push_back(file_name);
  open_files_.push_back(std::move(file_name));
  for_each_line(text, [&](unsigned number, std::string_view line) {
    place_.line = number;
    read_line(line);
  });
  open_files_.pop_back();
  place_ = caller;
}

void Reader::read_line(std::string_view line) {
  if (line.empty() || line.front() == '#') return;
  if (is_port_line(line)) {
    started_ = true;
    return add_port(line);
  }
  const bool known = read_node(line) || read_assignment(line) || read_directive(line);
  started_ = started_ || known;
  if (known || !started_) return;  // headings of other tools may come first
  if (std::ranges::any_of(kNoise, [&](auto noise) { return line.starts_with(noise); })) return;
  error(fmt::format("{} is no line of a fabric file", show(line)));
}

bool Reader::read_node(std::string_view line) {
  for (const auto& [word, type] : kTypes) {
    if (!line.starts_with(word)) continue;
    const auto rest = line.substr(word.size());
    if (!rest.empty() && std::string_view(" \t").find(rest.front()) == std::string_view::npos) continue;
    const auto node = parse_node_line(type, rest);
    bad_node_ = !node;
    node_.reset();
    if (node) {
      add_node(*node);
    } else {
      lines_.nodes_missing = true;
      error(node.error());
    }
    ahead_ = {};
    return true;
  }
  return false;
}

Guid Reader::take_guid(const NodeLine& line) {
  auto& counter = guids_[static_cast<std::size_t>(line.type)];
  const auto of_id = guid_of_id(line.id);
  if (!ahead_.guid && of_id) return *of_id;
  const Guid guid = ahead_.guid.value_or(Guid{counter.next});
  counter.next =
      guid.value() + (line.type == NodeType::switch_ ? 1 : line.ports + 1);  // ports have GUIDs too
  return guid;
}

void Reader::add_node(const NodeLine& line) {
  const auto index = static_cast<NodeIndex>(lines_.fabric.nodes.size());
  const auto id = with_module(line.id);
  const auto [known, is_new] = lines_.ids.emplace(id, index);
  if (!is_new) {
    bad_node_ = true;
    return error(fmt::format("node {} was already in {}", show(line.id),
                             lines_.refer(lines_.node_places[known->second], place_)));
  }
  auto& node = lines_.fabric.nodes.emplace_back();
  node.type = line.type;
  node.guid = take_guid(line);
  node.system_image = ahead_.system_image;
  node.vendor_id = ahead_.vendor_id;
  node.device_id = ahead_.device_id;
  node.id = id;
  node.name = line.name.value_or(id);
  node.enhanced_port0 = line.enhanced_port0;
  node.ports.resize(line.ports + 1);
  if (line.type == NodeType::switch_) {
    node.ports[0].lid = line.lid;
    node.ports[0].lmc = line.lmc;
    if (ahead_.port_guid && *ahead_.port_guid != node.guid) node.ports[0].guid = *ahead_.port_guid;
  }
  lines_.node_places.push_back(place_);
  port_seen_.assign(line.ports + 1, false);
  node_ = index;
}

std::string_view Reader::with_module(std::string_view id) {
  if (module_.empty() || id.find('#') != std::string_view::npos) return id;
  return lines_.texts.emplace_back(fmt::format("{}#{}", module_, id));
}

void Reader::add_port(std::string_view text) {
  if (!node_) {
    if (!bad_node_) error("a port line without a node in front of it");
    return;
  }
  auto& node = lines_.fabric.nodes[*node_];
  const auto line = parse_port_line(node.type, text);
  if (!line) return error(line.error());
  if (line->port < 1 || line->port > node.port_count()) {
    return error(fmt::format("port {}: {} has ports 1 to {}", line->port, show(node.id), node.port_count()));
  }
  const PortNum port{static_cast<std::uint8_t>(line->port)};
  auto enabled = enabled_;
  if (line->enabled.width != 0) enabled.width = line->enabled.width;
  if (line->enabled.speed != 0) enabled.speed = line->enabled.speed;
  if (line->enabled.speed_ext != 0) enabled.speed_ext = line->enabled.speed_ext;
  if (line->alias) {
    const auto [known, is_new] =
        lines_.aliases.emplace(fmt::format("{}@{}", module_, line->remote_id), Peer{*node_, port});
    if (!is_new) error(fmt::format("the alias {} is already that of another port", show(line->remote_id)));
    return;
  }
  if (port_seen_[port.value()]) {
    const auto before = std::ranges::find_if(
        lines_.claims, [&](const Claim& claim) { return claim.node == *node_ && claim.port == port; });
    return error(fmt::format("port {} was already in {}", line->port, lines_.refer(before->place, place_)));
  }
  port_seen_[port.value()] = true;
  auto& entry = node.ports[port.value()];
  if (node.type != NodeType::switch_) {
    entry.guid = line->guid;
    entry.lid = line->lid.value_or(Lid{});
    entry.lmc = line->lmc;
  }
  if (!line->rate.empty()) entry.rate = parse_link_rate(line->rate);
  const bool qualified = line->remote_id.find('@') != std::string_view::npos;
  lines_.claims.push_back({*node_, port, qualified ? line->remote_id : with_module(line->remote_id),
                           line->remote_port, line->remote_guid, line->remote_lid, !line->rate.empty(),
                           enabled, place_});
  if (line->remote_id.starts_with('@')) {  // an alias of this module
    lines_.claims.back().remote_id = lines_.texts.emplace_back(fmt::format("{}{}", module_, line->remote_id));
  }
}

bool Reader::read_assignment(std::string_view line) {
  const auto sign = line.find_first_of("=+ \t\"");
  if (sign == std::string_view::npos) return false;
  const auto key = line.substr(0, sign);
  auto value = trim(line.substr(sign));
  if (!value.starts_with('=') && !value.starts_with('+')) return false;
  const bool relative = value.front() == '+';
  value = without_comment(value.substr(1));
  if (const auto guid = std::ranges::find(kGuidKeys, key, &TypeWord::word); guid != kGuidKeys.end()) {
    set_guid(guid->type, value, relative);
    return true;
  }
  constexpr std::array<std::string_view, 7> kKeys{"vendid", "devid",    "sysimgguid", "width",
                                                  "speed",  "extspeed", "module"};
  if (relative || std::ranges::find(kKeys, key) == kKeys.end()) return false;
  set_number(key, value);
  return true;
}

void Reader::set_guid(NodeType type, std::string_view value, bool relative) {
  const auto open = value.find('(');
  const auto guid = parse_hex(trim(value.substr(0, open)));
  if (!guid) return error(fmt::format("GUID {}: up to 16 hexadecimal digits are needed", show(value)));
  auto& counter = guids_[static_cast<std::size_t>(type)];
  if (!relative) counter.base = 0;
  counter.next = counter.base + *guid;
  if (!relative) counter.base = *guid;
  ahead_.guid = Guid{counter.next};
  ahead_.port_guid.reset();
  if (open == std::string_view::npos) return;
  const auto close = value.find(')', open);
  const auto port_guid = close == std::string_view::npos
                             ? std::nullopt
                             : parse_hex(trim(value.substr(open + 1, close - open - 1)));
  if (!port_guid)
    return error(fmt::format("port GUID {}: up to 16 hexadecimal digits in '()' are needed", show(value)));
  ahead_.port_guid = Guid{*port_guid};
}

void Reader::set_number(std::string_view key, std::string_view value) {
  if (key == "module") {
    const auto first = value.find('"');
    const auto last = first == std::string_view::npos ? first : value.find('"', first + 1);
    if (last == std::string_view::npos) return error("the module's name in quotes is needed");
    module_ = value.substr(first + 1, last - first - 1);
    return;
  }
  if (key == "sysimgguid") {
    const auto guid = parse_hex(take_word(value));
    if (!guid) return error("sysimgguid: up to 16 hexadecimal digits are needed");
    ahead_.system_image = Guid{*guid};
    return;
  }
  const std::uint64_t last = key == "vendid" ? 0xffffff : key == "devid" ? 0xffff : key == "speed" ? 7 : 31;
  const auto number = parse_value(value, last);
  if (!number) return error(fmt::format("{} = {}", key, number.error()));
  if (key == "vendid") ahead_.vendor_id = static_cast<std::uint32_t>(*number);
  if (key == "devid") ahead_.device_id = static_cast<std::uint16_t>(*number);
  if (key == "width") enabled_.width = static_cast<std::uint8_t>(*number);
  if (key == "speed") enabled_.speed = static_cast<std::uint8_t>(*number);
  if (key == "extspeed") enabled_.speed_ext = static_cast<std::uint8_t>(*number);
}

bool Reader::read_directive(std::string_view line) {
  auto rest = line;
  const auto word = take_word(rest);
  if (word == "do" && started_) {
    error("'do' runs a command of ibsim's console: it cannot be followed here");
    return true;
  }
  if (word != "include") return false;
  const auto first = rest.find('"'), last = rest.rfind('"');
  if (first == last) {
    error("include: a file name in quotes is needed");
  } else {
    include(rest.substr(first + 1, last - first - 1));
  }
  return true;
}

void Reader::include(std::string_view name) {
  if (!open_include_) return error("include: only a fabric that is read from a file can include others");
  if (std::ranges::find(open_files_, name) != open_files_.end() || open_files_.size() > 64) {
    return error(fmt::format("{} includes itself", show(name)));
  }
  auto text = open_include_(name);
  if (!text) return error(fmt::format("include {}: {}", show(name), text.error()));
  const auto& kept = lines_.texts.emplace_back(*std::move(text));
  read(kept, std::string(name));
}

}  // namespace smd::base::net
