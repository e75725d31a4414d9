// SPDX-License-Identifier: Apache-2.0
#include "smd/dump/lft_dump.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "mad/base/parse.h"
#include "mad/base/shown_line.h"
#include "smd/dump/mapped_file.h"

namespace smd::sm::inline dumps {
namespace {

constexpr std::size_t kMostErrors = 20;
constexpr std::string_view kLftsHeader = "Unicast lids [";
constexpr std::string_view kFdbsHeader = "dump_ucast_routes: Switch ";

/// The number that follows `name`, up to the next blank or one of "):,'".
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view name) {
  const auto at = text.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + name.size());
  return base::parse_number(text.substr(0, text.find_first_of(" \t):,'")));
}

/// Line by line; the two formats share everything but their headers and the form of an entry.
class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {}

  std::expected<LftDump, base::FileErrors> read(std::string_view text) {
    while (!text.empty() && errors_.size() < kMostErrors && !foreign_) {
      const auto end = text.find('\n');
      ++line_number_;
      line(base::trim(text.substr(0, end)));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    end_switch();
    if (errors_.empty() && format_ == Format::unknown) {
      line_number_ = 0;
      error("no forwarding table in it: opensm-lfts.dump or opensm.fdbs is needed");
    }
    if (!errors_.empty()) return std::unexpected(std::move(errors_));
    return std::move(dump_);
  }

 private:
  enum class Format : std::uint8_t { unknown, lfts, fdbs };

  void line(std::string_view line) {
    if (line.empty()) return;
    if (line.starts_with(kLftsHeader)) return header(Format::lfts, line, number_after(line, " guid "));
    // Older OpenSMs and ibdiagnet write osm_ucast_mgr_dump_ucast_routes.
    if (line.find(kFdbsHeader) != std::string_view::npos) {
      return header(Format::fdbs, line, number_after(line, kFdbsHeader));
    }
    if (line.front() == '#') return;
    if (format_ == Format::unknown) {
      foreign_ = true;
      return error(fmt::format("\"{}\": a line 'Unicast lids […' or '{}…' must come first", base::shown(line),
                               kFdbsHeader));
    }
    if (format_ == Format::fdbs) return fdbs_entry(line);
    return lfts_entry(line);
  }

  void header(Format format, std::string_view line, std::optional<std::uint64_t> guid) {
    end_switch();
    if (format_ != Format::unknown && format_ != format) {
      return error("a second format in one file: either opensm-lfts.dump or opensm.fdbs is needed");
    }
    format_ = format;
    row_.clear();
    said_.clear();
    sw_ = Guid{};
    if (!guid || *guid == 0) {
      return error(fmt::format("\"{}\": the switch's GUID is missing or not a number", base::shown(line)));
    }
    sw_ = Guid{*guid};
    if (dump_.rows.contains(sw_)) error(fmt::format("switch {} for the second time", sw_));
  }

  /// "0x0004 001 # Switch portguid 0x…: 'name'", or with ":" in place of "#" and in brackets.
  void lfts_entry(std::string_view line) {
    // Lines around the entries: "  Lid  Out   Destination", "Port     Info", "44 valid lids dumped".
    if (line.starts_with("Lid ") || line.starts_with("Port ") || line.ends_with(" lids dumped")) return;
    auto rest = line;
    const auto lid = base::take_word(rest);
    const auto port = base::take_word(rest);
    if (!entry(line, lid, port)) return;
    if (const auto owner = number_after(rest, "portguid "); owner && *owner != 0) {
      dump_.owners.emplace(Lid{last_lid_}, Guid{*owner});
    }
  }

  /// "0x0001 : 001  : 01   : yes" or "0x0001 : UNREACHABLE".
  void fdbs_entry(std::string_view line) {
    if (line.starts_with("LID ")) return;
    const auto colon = line.find(':');
    if (colon == std::string_view::npos) {
      return error(
          fmt::format("\"{}\": 'LID : PORT : …' or 'LID : UNREACHABLE' is needed", base::shown(line)));
    }
    auto rest = line.substr(colon + 1);
    const auto port = base::take_word(rest);
    entry(line, base::trim(line.substr(0, colon)), port == "UNREACHABLE" ? "255" : port);
  }

  bool entry(std::string_view line, std::string_view lid_text, std::string_view port_text) {
    const auto lid = base::parse_number(lid_text);
    const auto port = base::parse_number(port_text);
    if (!lid || *lid > kLastUnicastLid.value()) {
      error(fmt::format("\"{}\": LID \"{}\": a number from 0x0001 to {:#06x} is needed", base::shown(line),
                        base::shown(lid_text), kLastUnicastLid.value()));
      return false;
    }
    if (!port || *port > 255) {
      error(fmt::format("\"{}\": port \"{}\": a number from 0 to 255 is needed", base::shown(line),
                        base::shown(port_text)));
      return false;
    }
    if (*lid >= row_.size()) {
      row_.resize((*lid / routing::kLftBlock + 1) * routing::kLftBlock, routing::kNoRoute);
      said_.resize(row_.size());
    }
    last_lid_ = static_cast<std::uint16_t>(*lid);
    return set(*lid, static_cast<std::uint8_t>(*port));
  }

  /// The same line twice says the same; of two ports it is not known which one is meant.
  bool set(std::size_t lid, std::uint8_t port) {
    if (said_[lid] && row_[lid] != port) {
      error(
          fmt::format("LID {:#06x} of switch {} has port {} here and port {} in a line above: one of them is "
                      "wrong",
                      lid, sw_, port, row_[lid]));
      return false;
    }
    said_[lid] = true;
    row_[lid] = port;
    return true;
  }

  void end_switch() {
    if (sw_ == Guid{}) return;
    dump_.rows.emplace(sw_, std::make_shared<const routing::LftRow>(row_));
    sw_ = Guid{};
  }

  void error(std::string text) { errors_.push_back({file_, line_number_, std::move(text)}); }

  const std::string& file_;
  Format format_ = Format::unknown;
  bool foreign_ = false;  // another kind of file: one error says it all
  unsigned line_number_ = 0;
  Guid sw_;
  std::uint16_t last_lid_ = 0;
  routing::LftRow row_;     // kept between switches: no growing for each
  std::vector<bool> said_;  // by LID: a line of the switch named it
  LftDump dump_;
  base::FileErrors errors_;
};

}  // namespace

std::expected<LftDump, base::FileErrors> read_lfts(std::string_view text, const std::string& file) {
  return Reader(file).read(text);
}

std::expected<LftDump, base::FileErrors> load_lfts(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  if (!file) return std::unexpected(base::FileErrors{{path.string(), 0, file.error()}});
  return read_lfts(file->bytes(), path.string());
}

}  // namespace smd::sm::inline dumps
