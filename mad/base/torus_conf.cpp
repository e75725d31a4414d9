// SPDX-License-Identifier: Apache-2.0
// The format is that of torus-2QoS.conf(5): keywords and their arguments, more words on a line are ignored.
#include "mad/base/torus_conf.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "mad/base/error_list.h"
#include "mad/base/lines.h"
#include "mad/base/parse.h"

namespace smd::base {
namespace {

constexpr std::string_view kNames = "xyz";
/// Products of sizes stay far below the number of LIDs.
constexpr std::uint64_t kMostSwitches = 0xBFFF;
constexpr unsigned kAmbiguousRing = 4;

std::optional<int> parse_offset(std::string_view text) {
  int value = 0;
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

class TorusReader {
 public:
  /// Empty, or what is wrong with the line.
  std::string read(unsigned number, std::string_view line) {
    if (line.empty() || line.front() == '#') return {};
    const auto keyword = take_word(line);
    if (keyword == "torus" || keyword == "mesh") return read_sizes(keyword == "mesh", line);
    if (keyword == "portgroup_max_ports" || keyword == "max_changes") return read_number(keyword, line);
    if (keyword == "port_order") return read_port_order(line);
    if (!has_sizes_) return "'torus X Y Z' or 'mesh X Y Z' has to come first";
    if (keyword == "next_seed") {
      add_seed(number);
      return {};
    }
    const auto d = kNames.find(keyword.empty() ? '?' : keyword.front());
    if (d != std::string_view::npos && keyword.substr(1) == "p_link") return read_link(number, d, true, line);
    if (d != std::string_view::npos && keyword.substr(1) == "m_link")
      return read_link(number, d, false, line);
    if (d != std::string_view::npos && keyword.substr(1) == "_dateline")
      return read_dateline(number, d, line);
    return fmt::format("'{}' is no keyword of torus-2QoS.conf", keyword);
  }

  /// What is wrong with the whole, each with its line.
  std::vector<std::pair<unsigned, std::string>> check() const {
    if (!has_sizes_) return {{0U, "'torus X Y Z' or 'mesh X Y Z' is missing"}};
    if (conf_.seeds.empty())
      return {{0U, "no seed: links as 'xp_link SWITCH-GUID NEIGHBOUR-GUID' are missing"}};
    std::vector<std::pair<unsigned, std::string>> found;
    for (std::size_t i = 0; i < conf_.seeds.size(); ++i) {
      for (std::size_t d = 0; d < TorusConf::kDimensions; ++d) {
        if (auto what = missing(conf_.seeds[i], d); !what.empty())
          found.emplace_back(seed_lines_[i], std::move(what));
      }
    }
    return found;
  }

  TorusConf take() && { return std::move(conf_); }

 private:
  void add_seed(unsigned number) {
    conf_.seeds.emplace_back();
    seed_lines_.push_back(number);
  }

  /// The seed that a line belongs to.
  TorusConf::Seed& seed(unsigned number) {
    if (conf_.seeds.empty()) add_seed(number);
    return conf_.seeds.back();
  }

  std::string missing(const TorusConf::Seed& seed, std::size_t d) const {
    if (conf_.size[d] < 2) return {};
    const bool plus = seed.plus[d].has_value(), minus = seed.minus[d].has_value();
    if (!plus && !minus) return fmt::format("this seed has neither {0}p_link nor {0}m_link", kNames[d]);
    if (conf_.size[d] == kAmbiguousRing && !conf_.mesh[d] && (!plus || !minus))
      return fmt::format("this seed has no {}{}_link: a ring of four switches needs both", kNames[d],
                         plus ? 'm' : 'p');
    return {};
  }

  std::string read_sizes(bool mesh, std::string_view line) {
    if (std::exchange(has_sizes_, true)) return "the size of the torus stands in an earlier line";
    std::uint64_t product = 1;
    for (std::size_t d = 0; d < TorusConf::kDimensions; ++d) {
      auto word = take_word(line);
      conf_.mesh[d] = mesh;
      if (!word.empty()) {
        const auto last = word.back();
        if (last == 't' || last == 'T' || last == 'm' || last == 'M') {
          conf_.mesh[d] = last == 'm' || last == 'M';
          word.remove_suffix(1);
        }
      }
      const auto size = parse_number(word, kMostSwitches);
      if (!size || *size == 0) return "three sizes are needed, numbers from 1 that m or t may follow";
      product *= *size;
      if (product > kMostSwitches) return fmt::format("more than {} switches", kMostSwitches);
      conf_.size[d] = static_cast<unsigned>(*size);
      // A ring of two is a path with twice the cables.
      if (*size == 2) conf_.mesh[d] = true;
    }
    return {};
  }

  static std::string read_number(std::string_view keyword, std::string_view line) {
    const auto word = take_word(line);
    return parse_number(word) ? std::string() : fmt::format("{}: '{}' is no number", keyword, word);
  }

  std::string read_port_order(std::string_view line) {
    while (!line.empty()) {
      const auto word = take_word(line);
      if (word.starts_with('#')) break;
      const auto port = parse_number(word, 0xFE);
      if (!port) return fmt::format("port_order: '{}' is no port, 0 to 254", word);
      const PortNum num{static_cast<std::uint8_t>(*port)};
      if (std::ranges::find(conf_.port_order, num) == conf_.port_order.end()) conf_.port_order.push_back(num);
    }
    return {};
  }

  std::string read_link(unsigned number, std::size_t d, bool plus, std::string_view line) {
    std::array<Guid, 2> guids{};
    for (auto& guid : guids) {
      const auto word = take_word(line);
      const auto value = parse_number(word);
      if (!value) return fmt::format("'{}': the GUID of a switch is needed, 0x and up to 16 digits", word);
      guid = Guid{*value};
    }
    auto& own = seed(number);
    const bool first = std::ranges::none_of(own.plus, &std::optional<Guid>::has_value) &&
                       std::ranges::none_of(own.minus, &std::optional<Guid>::has_value);
    if (!first && own.from != guids[0])
      return fmt::format("the links of a seed begin at one switch: {} above, {} here", own.from, guids[0]);
    if (guids[0] == guids[1]) return "a link needs two switches";
    own.from = guids[0];
    (plus ? own.plus : own.minus)[d] = guids[1];
    return {};
  }

  std::string read_dateline(unsigned number, std::size_t d, std::string_view line) {
    const auto word = take_word(line);
    const auto value = parse_offset(word);
    const auto size = static_cast<int>(conf_.size[d]);
    if (!value || *value <= -size || *value >= size)
      return fmt::format("'{}': a number from {} to {} is needed", word, 1 - size, size - 1);
    seed(number).dateline[d] = *value;
    return {};
  }

  TorusConf conf_;
  std::vector<unsigned> seed_lines_;
  bool has_sizes_ = false;
};

std::string seed_text(const TorusConf::Seed& seed) {
  std::string text;
  const auto link = [&](std::size_t d, char sign, const std::optional<Guid>& to) {
    if (to) text += fmt::format("{}{}_link {} {}\n", kNames[d], sign, seed.from, *to);
  };
  for (std::size_t d = 0; d < TorusConf::kDimensions; ++d) {
    link(d, 'p', seed.plus[d]);
    link(d, 'm', seed.minus[d]);
    if (seed.dateline[d] != 0) text += fmt::format("{}_dateline {}\n", kNames[d], seed.dateline[d]);
  }
  return text;
}

}  // namespace

std::string torus_conf_text(const TorusConf& conf) {
  std::string text = "torus";
  for (std::size_t d = 0; d < TorusConf::kDimensions; ++d)
    text += fmt::format(" {}{}", conf.size[d], conf.mesh[d] ? 'm' : 't');
  text += '\n';
  if (!conf.port_order.empty()) {
    text += "port_order";
    for (const auto port : conf.port_order) text += fmt::format(" {}", port);
    text += '\n';
  }
  for (std::size_t i = 0; i < conf.seeds.size(); ++i)
    text += (i == 0 ? "" : "next_seed\n") + seed_text(conf.seeds[i]);
  return text;
}

std::expected<TorusConf, FileErrors> read_torus_conf(std::string_view text, const std::string& file_name) {
  TorusReader reader;
  ErrorList errors;
  for_each_line(text, [&](unsigned number, std::string_view line) {
    if (auto what = reader.read(number, line); !what.empty()) errors.add(file_name, number, std::move(what));
  });
  if (errors.empty()) {
    for (auto& [number, what] : reader.check()) errors.add(file_name, number, std::move(what));
  }
  if (!errors.empty()) return std::unexpected(errors.take(file_name));
  return std::move(reader).take();
}

}  // namespace smd::base
