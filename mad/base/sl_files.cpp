// SPDX-License-Identifier: Apache-2.0
#include "mad/base/sl_files.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "mad/base/lines.h"
#include "mad/base/parse.h"
#include "mad/base/shown_line.h"

namespace smd::base {
namespace {

constexpr std::size_t kMostSlErrors = 20;
constexpr std::uint64_t kLastSl = 15;

/// Line by line into a file's contents; derived classes read a line each.
template <class Contents>
class LineReader {
 public:
  explicit LineReader(const std::string& file) : file_(file) {}
  virtual ~LineReader() = default;

  std::expected<Contents, base::FileErrors> read(std::string_view text) {
    base::for_each_line(text, [&](unsigned number, std::string_view line) {
      number_ = number;
      if (!line.empty() && errors_.size() < kMostSlErrors) take(line);
    });
    number_ = 0;
    if (errors_.empty() && contents_.empty()) error(nothing());
    if (!errors_.empty()) return std::unexpected(std::move(errors_));
    return std::move(contents_);
  }

 protected:
  virtual void take(std::string_view line) = 0;
  virtual std::string nothing() const = 0;

  void error(std::string what) { errors_.push_back({file_, number_, std::move(what)}); }

  /// Nothing, after an error, where the next word is none.
  std::optional<std::uint64_t> number(std::string_view& rest, std::string_view name, std::uint64_t first,
                                      std::uint64_t last) {
    const auto word = base::take_word(rest);
    const auto found = base::parse_number(word, last);
    if (found && *found >= first) return found;
    error(fmt::format("{} \"{}\": a number from {} to {} is needed", name, shown(word), first, last));
    return std::nullopt;
  }

  std::optional<Guid> guid(std::string_view& rest, std::string_view name) {
    const auto word = base::take_word(rest);
    const auto found = base::parse_guid(word);
    if (found && *found != Guid{}) return found;
    error(fmt::format("{} \"{}\": a GUID is needed", name, shown(word)));
    return std::nullopt;
  }

  Contents contents_;

 private:
  const std::string& file_;
  unsigned number_ = 0;
  base::FileErrors errors_;
};

class PathSlReader final : public LineReader<PathSlFile> {
 public:
  using LineReader::LineReader;

 private:
  std::string nothing() const override { return "no path in it: lines 'SOURCE-GUID DLID SL' are needed"; }

  void take(std::string_view line) override {
    if (line.front() == '#') return;
    auto rest = line;
    const auto source = guid(rest, "source");
    if (!source) return;
    const auto lid = number(rest, "DLID", 1, kLastUnicastLid.value());
    if (!lid) return;
    const auto sl = number(rest, "SL", 0, kLastSl);
    if (!sl) return;
    if (!rest.empty()) return error(fmt::format("\"{}\" after the SL: nothing more is allowed", shown(rest)));
    auto& row = contents_[*source];
    if (row.size() <= *lid) row.resize(*lid + 1, kNoSlSaid);
    auto& said = row[*lid];
    if (said != kNoSlSaid && said != *sl)
      return error(fmt::format("SL {} for the path from {} to LID {}, which had SL {} before", *sl, *source,
                               *lid, said));
    said = static_cast<std::uint8_t>(*sl);
  }
};

class SlToVlReader final : public LineReader<SlToVlFile> {
 public:
  using LineReader::LineReader;

 private:
  std::string nothing() const override {
    return "no table in it: lines 'SWITCH-GUID IN OUT 0xVV …', or opensm-sl2vl.dump, are needed";
  }

  void take(std::string_view line) override {
    if (line.front() == '#') return;
    if (line.find(", base LID ") != std::string_view::npos) return head(line);
    if (node_) return dump_row(line);
    auto rest = line;
    const auto sw = guid(rest, "switch");
    const auto in = sw ? number(rest, "IN", 0, 254) : std::nullopt;
    const auto out = in ? number(rest, "OUT", 0, 254) : std::nullopt;
    if (!sw || !in || !out) return;
    std::array<std::uint8_t, 16> map{};
    for (std::size_t sl = 0; sl < map.size(); sl += 2) {
      const auto both = number(rest, "VLs", 0, 0xFF);
      if (!both) return;
      map[sl] = static_cast<std::uint8_t>(*both >> 4U);
      map[sl + 1] = static_cast<std::uint8_t>(*both & 0xFU);
    }
    keep(*sw, *in, *out, map);
  }

  /// "Switch 0x…, base LID 4, "name"": rows of this node follow.
  void head(std::string_view line) {
    const auto comma = line.find(',');
    const auto blank = line.rfind(' ', comma);
    auto word = line.substr(blank + 1, comma - blank - 1);
    node_ = guid(word, "node");
    is_switch_ = line.starts_with("Switch ");
  }

  /// "1   2   : 0  1  2 …"
  void dump_row(std::string_view line) {
    auto rest = line;
    const auto in = number(rest, "in", 0, 254);
    const auto out = in ? number(rest, "out", 0, 254) : std::nullopt;
    if (!in || !out || !node_) return;
    if (rest.starts_with(':')) rest = base::trim(rest.substr(1));
    std::array<std::uint8_t, 16> map{};
    for (auto& vl : map) {
      const auto found = number(rest, "VL", 0, 15);
      if (!found) return;
      vl = static_cast<std::uint8_t>(*found);
    }
    if (is_switch_) keep(*node_, *in, *out, map);
  }

  void keep(Guid sw, std::uint64_t in, std::uint64_t out, const std::array<std::uint8_t, 16>& map) {
    const std::pair ports{PortNum{static_cast<std::uint8_t>(in)}, PortNum{static_cast<std::uint8_t>(out)}};
    const auto [at, fresh] = contents_[sw].try_emplace(ports, map);
    if (!fresh && at->second != map)
      error(
          fmt::format("switch {} from port {} to port {} for the second time, with other VLs", sw, in, out));
  }

  std::optional<Guid> node_;
  bool is_switch_ = false;
};

}  // namespace

const std::vector<std::uint8_t>* sls_from(const PathSlFile& file, Guid port, Guid node) {
  auto found = file.find(port);
  if (found == file.end()) found = file.find(node);
  return found != file.end() ? &found->second : nullptr;
}

std::expected<PathSlFile, base::FileErrors> read_path_sl(std::string_view text, const std::string& file) {
  return PathSlReader(file).read(text);
}

std::expected<SlToVlFile, base::FileErrors> read_sl_to_vl(std::string_view text, const std::string& file) {
  return SlToVlReader(file).read(text);
}

}  // namespace smd::base
