// SPDX-License-Identifier: Apache-2.0
#include "config/import/qos_policy_conf.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "config/import/qos_conf_items.h"
#include "config/import/qos_ulps.h"
#include "config/scalars.h"
#include "config/suggest.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

constexpr std::size_t kLongestQosLine = 10'239;  // opensm's buffer for a value has 10 KB

/// A section of the file. It ends with "end-" and its word.
struct QosSection {
  std::string_view word;
  int parent = -1;  ///< index into kSections; -1: the file itself
  QosBlock block = QosBlock::none;
  bool needs_items = false;  ///< opensm refuses it where it is empty
};
constexpr std::array kSections{
    QosSection{.word = "port-groups", .needs_items = true},
    QosSection{.word = "port-group", .parent = 0, .block = QosBlock::group},
    QosSection{.word = "qos-setup"},
    QosSection{.word = "vlarb-tables", .parent = 2},
    QosSection{.word = "vlarb-scope", .parent = 3, .block = QosBlock::vlarb_scope},
    QosSection{.word = "sl2vl-tables", .parent = 2},
    QosSection{.word = "sl2vl-scope", .parent = 5, .block = QosBlock::sl2vl_scope},
    QosSection{.word = "qos-levels"},
    QosSection{.word = "qos-level", .parent = 7, .block = QosBlock::level},
    QosSection{.word = "qos-match-rules"},
    QosSection{.word = "qos-match-rule", .parent = 9, .block = QosBlock::rule},
    QosSection{.word = "qos-ulps", .needs_items = true},
};
constexpr int kUlpSection = 11;
constexpr std::string_view kEnd = "end-";
constexpr std::string_view kUseKey = "use";

std::string_view word_of(std::string_view text) { return text.substr(0, text.find_first_of(" \t:,")); }

class QosConfReader {
 public:
  explicit QosConfReader(const std::string& file) : notes_(file), items_(notes_, policy_) {
    policy_.file = file;
  }

  void read(std::string_view text) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    for (unsigned line = 1; !text.empty(); ++line) {
      const auto end = text.find('\n');
      read_line(text.substr(0, end), line);
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
    flush();
    if (section_ >= 0) {
      notes_.set_line(begun());
      notes_.refuse("", fmt::format("no \"{}{}\" ends this section", kEnd, here().word));
    }
  }

  std::expected<QosPolicyConf, std::vector<ConfigError>> take() {
    if (notes_.any_errors()) return std::unexpected(notes_.take_errors());
    auto found = check_qos_policy(policy_, true);
    if (!found.errors.empty()) return std::unexpected(std::move(found.errors));
    QosPolicyConf conf{.policy = std::move(policy_), .warnings = notes_.take_warnings()};
    conf.warnings.insert(conf.warnings.end(), found.warnings.begin(), found.warnings.end());
    return conf;
  }

 private:
  const QosSection& here() const { return kSections.at(static_cast<std::size_t>(section_)); }

  void read_line(std::string_view raw, unsigned line) {
    notes_.set_line(line);
    if (raw.size() > kLongestQosLine)
      return notes_.refuse(
          "", fmt::format("a line of {} bytes, opensm reads at most {}", raw.size(), kLongestQosLine));
    if (raw.contains('\0')) return notes_.refuse("", "a NUL byte");
    if (raw.contains('\r')) {
      // One error is enough: all lines of such a file end so.
      if (!std::exchange(carriage_return_, true))
        notes_.refuse("", "a carriage return, which opensm does not take for a blank",
                      "convert the file to Unix line ends");
      return;
    }
    const auto content = without_comment(raw);
    if (content.empty()) return;
    // A name that ends with one would be another name here than in opensm, which drops it there.
    if (content.find_first_of("\v\f") != std::string_view::npos)
      return notes_.refuse("", "a vertical tab or a form feed, which are no blanks");
    // "use" is text to the end of its line, commas included.
    const bool is_list = !pending_.empty() && word_of(pending_) != kUseKey;
    const bool open_list = is_list && pending_.ends_with(',');
    const bool ends_open_list = open_list && is_no_item(content);
    if (is_list && !ends_open_list && (content.starts_with(',') || open_list)) {
      pending_ += content;
      return;
    }
    if (ends_open_list) drop_comma();
    flush();
    notes_.set_line(line);
    if (ends_open_list)
      notes_.wrong("", content, fmt::format("another item: the list of line {} ends with ','", pending_line_),
                   "take the ',' away");
    const bool of_items = section_ >= 0 && (section_ == kUlpSection || here().block != QosBlock::none);
    if (!of_items || content.starts_with(kEnd) || is_section(content)) return read_word(content);
    pending_ = content;
    pending_line_ = line;
  }

  static bool is_section(std::string_view word) {
    return std::ranges::find(kSections, word, &QosSection::word) != kSections.end();
  }

  /// Whether a line cannot continue a list: a key of the block with its value, or a word of a section.
  bool is_no_item(std::string_view content) const {
    if (is_section(content)) return true;
    if (content.starts_with(kEnd) && is_section(content.substr(kEnd.size()))) return true;
    const auto key = word_of(content);
    const auto keys = QosConfItems::keys_of(here().block);
    return std::ranges::find(keys, key) != keys.end() && trim(content.substr(key.size())).starts_with(':');
  }

  /// What is there of a list is read, so that its key is not missed, too; a rule for a protocol lacks its SL.
  void drop_comma() {
    pending_.pop_back();
    if (section_ == kUlpSection) pending_.clear(), ++items_in_section_;
  }

  /// An item is read when the line after it shows that its list has ended.
  void flush() {
    if (pending_.empty()) return;
    const auto text = std::exchange(pending_, {});
    notes_.set_line(pending_line_);
    ++items_in_section_;
    if (section_ == kUlpSection) return read_qos_ulp(text, notes_, policy_);
    const auto key = word_of(text);
    const auto rest = trim(std::string_view(text).substr(key.size()));
    const auto keys = QosConfItems::keys_of(here().block);
    const bool known = std::ranges::find(keys, key) != keys.end();
    if (!known) return unknown_key(key);
    if (rest.starts_with(':')) return items_.set(key, trim(rest.substr(1)));
    items_.note_wrong(key);
    notes_.wrong(key, text, fmt::format("{}, ':' and a value", key));
  }

  void unknown_key(std::string_view word) {
    const auto meant = did_you_mean(word, keys_here());
    for (const auto key : QosConfItems::keys_of(here().block)) {
      if (meant.contains(fmt::format("\"{}\"", key))) items_.note_wrong(key);
    }
    unknown(word, keys_here());
  }

  std::vector<std::string> keys_here() const {
    std::vector<std::string> words;
    for (const auto key : QosConfItems::keys_of(here().block)) words.emplace_back(key);
    words.push_back(fmt::format("{}{}", kEnd, here().word));
    return words;
  }

  void unknown(std::string_view word, const std::vector<std::string>& words) {
    std::string allowed;
    for (std::size_t i = 0; i < words.size(); ++i)
      allowed += fmt::format("{}{}", i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
    notes_.wrong("", word, std::move(allowed), did_you_mean(word, words));
  }

  /// The beginning or the end of a section: of the one in hand, or of one around it whose inner sections were
  /// not ended.
  void read_word(std::string_view content) {
    const auto word = word_of(content);
    for (int at = section_;; at = kSections[static_cast<std::size_t>(at)].parent) {
      const auto ends = at >= 0 && word.starts_with(kEnd) &&
                        word.substr(kEnd.size()) == kSections[static_cast<std::size_t>(at)].word;
      const auto inner = std::ranges::find_if(
          kSections, [&](const QosSection& one) { return one.parent == at && one.word == word; });
      if (ends || inner != kSections.end()) {
        if (content != word) return more_in_line(content, word);
        if (at != section_)
          notes_.refuse("", fmt::format("\"{}{}\" is missing before \"{}\"", kEnd, here().word, word),
                        fmt::format("{} begins in line {}", here().word, begun()));
        if (std::exchange(section_, at) == at && ends) return end_section();
        return ends ? leave_section() : begin_section(static_cast<int>(inner - kSections.begin()));
      }
      if (at < 0) break;
    }
    unknown(word, section_ >= 0 && here().block != QosBlock::none ? keys_here() : words_here());
  }

  void more_in_line(std::string_view content, std::string_view word) {
    notes_.wrong(word, content, fmt::format("\"{}\" alone in its line", word));
  }

  std::vector<std::string> words_here() const {
    std::vector<std::string> words;
    for (const auto& one : kSections) {
      if (one.parent == section_) words.emplace_back(one.word);
    }
    if (section_ >= 0) words.push_back(fmt::format("{}{}", kEnd, here().word));
    return words;
  }

  unsigned& begun() { return begun_.at(static_cast<std::size_t>(section_)); }

  void begin_section(int section) {
    section_ = section;
    begun() = notes_.line();
    items_in_section_ = 0;
    if (here().block != QosBlock::none) items_.begin(here().block);
  }

  void end_section() {
    if (here().block != QosBlock::none) items_.end();
    if (here().needs_items && items_in_section_ == 0)
      notes_.refuse("", fmt::format("\"{}\" is empty, which opensm refuses", here().word),
                    "leave the section out");
    leave_section();
  }

  void leave_section() {
    section_ = here().parent;
    ++items_in_section_;
  }

  ConfNotes notes_;
  QosPolicy policy_{};
  QosConfItems items_;
  int section_ = -1;
  std::array<unsigned, kSections.size()> begun_{};  ///< lines of the sections that are open
  unsigned items_in_section_ = 0;
  std::string pending_{};  ///< a key with its value, or a rule for a protocol
  unsigned pending_line_ = 0;
  bool carriage_return_ = false;
};

}  // namespace

std::expected<QosPolicyConf, std::vector<ConfigError>> read_qos_policy_conf(std::string_view text,
                                                                            const std::string& file) {
  QosConfReader reader(file);
  reader.read(text);
  return reader.take();
}

}  // namespace smd::config
