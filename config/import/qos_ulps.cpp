// SPDX-License-Identifier: Apache-2.0
#include "config/import/qos_ulps.h"

#include <fmt/format.h>

#include <array>
#include <limits>
#include <vector>

#include "config/import/qos_conf_values.h"
#include "config/scalars.h"
#include "config/suggest.h"
#include "config/toml_reader.h"

namespace smd::config {
namespace {

/// rdma_cm's RDMA_PS_TCP: the service ID of a port (linux, include/rdma/rdma_cm.h); SDP's as in the annex of
/// IBA, the ports of the others as IANA and their documents have them.
constexpr std::uint64_t kRdmaCm = 0x0000000001060000;
constexpr std::uint64_t kSdp = 0x0000000000010000;
constexpr std::array kPortUlps{
    QosPortUlp{.name = "sdp", .base = kSdp, .usual = QosRange{0, kMostPort}, .in_opensm = true},
    QosPortUlp{.name = "rds", .base = kRdmaCm, .usual = QosRange{0x48CA, 0x48CA}, .in_opensm = true},
    QosPortUlp{.name = "iser", .base = kRdmaCm, .usual = QosRange{0x0CBC, 0x0CBC}, .in_opensm = true},
    QosPortUlp{.name = "lustre", .base = kRdmaCm, .usual = QosRange{987, 987}},
    QosPortUlp{.name = "nvmeof", .base = kRdmaCm, .usual = QosRange{4420, 4420}},
    QosPortUlp{.name = "nfsrdma", .base = kRdmaCm, .usual = QosRange{20049, 20049}},
    QosPortUlp{.name = "gpfs", .base = kRdmaCm},
    QosPortUlp{.name = "beegfs", .base = kRdmaCm},
};

constexpr std::string_view kUlpForm = "PROTOCOL : SL, or PROTOCOL, CRITERION LIST : SL";

/// What may stand behind the ',' of a protocol.
struct UlpCriterion {
  std::string_view ulp;
  std::string_view word;
  QosUlpKey key;
};
constexpr std::array kCriteria{
    UlpCriterion{"sdp", "port-num", QosUlpKey::service_id},
    UlpCriterion{"rds", "port-num", QosUlpKey::service_id},
    UlpCriterion{"iser", "port-num", QosUlpKey::service_id},
    UlpCriterion{"srp", "target-port-guid", QosUlpKey::target},
    UlpCriterion{"ipoib", "pkey", QosUlpKey::pkey},
    UlpCriterion{"any", "service-id", QosUlpKey::service_id},
    UlpCriterion{"any", "pkey", QosUlpKey::pkey},
    UlpCriterion{"any", "target-port-guid", QosUlpKey::target},
    UlpCriterion{"any", "source-port-guid", QosUlpKey::source},
    UlpCriterion{"any", "source-target-port-guid", QosUlpKey::source_target},
};
const std::vector<std::string>& ulp_words() {
  static const std::vector<std::string> words{"default", "sdp", "rds", "iser", "srp", "ipoib", "any"};
  return words;
}

std::string lower_word(std::string_view text) {
  std::string word;
  for (const char c : text) word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return word;
}

class UlpLine {
 public:
  UlpLine(ConfNotes& notes, QosPolicy& policy) : notes_(notes), policy_(policy) {}

  void read(std::string_view text) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) return notes_.wrong("qos-ulps", text, std::string(kUlpForm));
    const auto what = trim(text.substr(0, colon));
    const auto comma = what.find(',');
    const auto word = lower_word(trim(what.substr(0, comma)));
    if (std::ranges::find(ulp_words(), word) == ulp_words().end())
      return notes_.wrong("qos-ulps", trim(what.substr(0, comma)),
                          "default, sdp, rds, iser, srp, ipoib or any", did_you_mean(word, ulp_words()));
    ulp_ = {.name = word, .source = {.origin = PolicyOrigin::file, .line = notes_.line()}};
    const bool good =
        comma == std::string_view::npos ? read_plain() : read_criterion(trim(what.substr(comma + 1)));
    if (!good) return;
    const auto sl =
        read_qos_number({word, trim(text.substr(colon + 1)), notes_}, 0, 15, "an SL from 0 to 15");
    if (!sl) return;
    ulp_.sl = Sl{static_cast<std::uint8_t>(*sl)};
    keep();
  }

 private:
  /// Without a criterion.
  bool read_plain() {
    if (ulp_.name == "default") return true;
    if (const auto* known = find_port_ulp(ulp_.name); known != nullptr && known->usual) {
      ulp_.ranges = service_ids_of(*known, {*known->usual});
      return true;
    }
    if (ulp_.name == "ipoib") {
      ulp_.by = QosUlpKey::pkey;
      ulp_.ranges = {{kIpoibPKey, kIpoibPKey}};
      return true;
    }
    notes_.wrong("qos-ulps", ulp_.name,
                 fmt::format("{} and behind a ',' {}", ulp_.name, criteria_of(ulp_.name)));
    return false;
  }

  static std::string criteria_of(std::string_view ulp) {
    std::string words;
    for (const auto& one : kCriteria) {
      if (one.ulp == ulp) words += fmt::format("{}{}", words.empty() ? "" : " or ", one.word);
    }
    return words.empty() ? "nothing" : words;
  }

  bool read_criterion(std::string_view text) {
    const auto end = std::min(text.find_first_of(" \t"), text.size());
    const auto word = text.substr(0, end);
    const auto found = std::ranges::find_if(
        kCriteria, [&](const UlpCriterion& one) { return one.ulp == ulp_.name && one.word == word; });
    if (found == kCriteria.end()) {
      notes_.wrong(ulp_.name, text, fmt::format("{} behind the ','", criteria_of(ulp_.name)));
      return false;
    }
    ulp_.by = found->key;
    auto ranges = read_list({found->word, trim(text.substr(end)), notes_});
    if (!ranges) return false;
    const auto* known = find_port_ulp(ulp_.name);
    ulp_.ranges = known != nullptr ? service_ids_of(*known, *ranges) : *std::move(ranges);
    return true;
  }

  std::optional<QosRanges> read_list(const QosValue& value) const {
    constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
    if (ulp_.by == QosUlpKey::pkey) return read_qos_pkeys(value);
    if (find_port_ulp(ulp_.name) != nullptr)
      return read_qos_ranges(value, kMostPort, "a port number from 0 to 65535");
    return ulp_.by == QosUlpKey::service_id
               ? read_qos_ranges(value, kMost, "a service ID such as 0x0000000001060cbc")
               : read_qos_ranges(value, kMost, "a port GUID such as 0x0002c90300001234");
  }

  void keep() {
    if (ulp_.name != "default") return policy_.ulps.push_back(std::move(ulp_));
    if (policy_.default_ulp)
      notes_.warn("default", fmt::format("replaces that of line {}, as opensm has it: the last one counts",
                                         policy_.default_ulp->source.line));
    policy_.default_ulp = {.sl = ulp_.sl, .source = ulp_.source};
  }

  ConfNotes& notes_;
  QosPolicy& policy_;
  QosUlp ulp_{};
};

}  // namespace

const QosPortUlp* find_port_ulp(std::string_view name) {
  const auto word = lower_word(name);
  const auto found = std::ranges::find(kPortUlps, word, &QosPortUlp::name);
  return found != kPortUlps.end() ? &*found : nullptr;
}

QosRanges service_ids_of(const QosPortUlp& ulp, const QosRanges& ports) {
  QosRanges ids;
  for (const auto& range : ports) ids.push_back({ulp.base + range.first, ulp.base + range.last});
  return ids;
}

void read_qos_ulp(std::string_view text, ConfNotes& notes, QosPolicy& policy) {
  UlpLine(notes, policy).read(text);
}

}  // namespace smd::config
