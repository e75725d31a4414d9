// SPDX-License-Identifier: Apache-2.0
#include "smd/registry/request_counts.h"

#include <algorithm>

namespace smd::sa {
namespace {

/// Of requests that are not of these; the last place of each table.
constexpr std::string_view kOther = "other";

struct AttributeName {
  std::uint16_t number;
  std::string_view name;
};
/// Attributes of subnet administration: names as the kernel's ib_sa.h and libibmad have them.
constexpr std::array kSaAttributes{AttributeName{0x01, "ClassPortInfo"},
                                   AttributeName{0x02, "Notice"},
                                   AttributeName{0x03, "InformInfo"},
                                   AttributeName{0x11, "NodeRecord"},
                                   AttributeName{0x12, "PortInfoRecord"},
                                   AttributeName{0x13, "SLtoVLMappingTableRecord"},
                                   AttributeName{0x14, "SwitchInfoRecord"},
                                   AttributeName{0x15, "LinearForwardingTableRecord"},
                                   AttributeName{0x16, "RandomForwardingTableRecord"},
                                   AttributeName{0x17, "MulticastForwardingTableRecord"},
                                   AttributeName{0x18, "SMInfoRecord"},
                                   AttributeName{0x20, "LinkRecord"},
                                   AttributeName{0x30, "GUIDInfoRecord"},
                                   AttributeName{0x31, "ServiceRecord"},
                                   AttributeName{0x33, "P_KeyTableRecord"},
                                   AttributeName{0x35, "PathRecord"},
                                   AttributeName{0x36, "VLArbitrationTableRecord"},
                                   AttributeName{0x38, "MCMemberRecord"},
                                   AttributeName{0x39, "TraceRecord"},
                                   AttributeName{0x3A, "MultiPathRecord"},
                                   AttributeName{0x3B, "ServiceAssociationRecord"},
                                   AttributeName{0xF3, "InformInfoRecord"}};
static_assert(kSaAttributes.size() + 1 == RequestCounts::kAttributes);

struct MethodWord {
  wire::Method method;
  std::string_view name;
};
constexpr std::array kSaMethods{
    MethodWord{wire::Method::get, "Get"},
    MethodWord{wire::Method::set, "Set"},
    MethodWord{wire::Method::remove, "Delete"},
    MethodWord{wire::Method::get_table, "GetTable"},
    MethodWord{wire::Method::get_trace_table, "GetTraceTable"},
    MethodWord{wire::Method::get_multi, "GetMulti"},
};
static_assert(kSaMethods.size() + 1 == RequestCounts::kMethods);

/// By their place, as status_place() finds it.
constexpr std::array<std::string_view, RequestCounts::kStatuses> kStatusWords{"ok",
                                                                              "busy",
                                                                              "bad_version",
                                                                              "bad_method",
                                                                              "bad_field",
                                                                              "no_resources",
                                                                              "invalid",
                                                                              "no_records",
                                                                              "too_many_records",
                                                                              "invalid_gid",
                                                                              "insufficient_components",
                                                                              "denied",
                                                                              "unanswered",
                                                                              kOther};
constexpr std::size_t kUnanswered = RequestCounts::kStatuses - 2, kOtherStatus = RequestCounts::kStatuses - 1;

std::size_t attribute_place(std::uint16_t attribute) {
  const auto found = std::ranges::lower_bound(kSaAttributes, attribute, {}, &AttributeName::number);
  const bool known = found != kSaAttributes.end() && found->number == attribute;
  return known ? static_cast<std::size_t>(found - kSaAttributes.begin()) : kSaAttributes.size();
}

std::size_t method_place(wire::Method method) {
  return static_cast<std::size_t>(std::ranges::find(kSaMethods, method, &MethodWord::method) -
                                  kSaMethods.begin());
}

std::size_t status_place(std::uint16_t status) {
  switch (status) {
    case wire::kStatusOk:
      return 0;
    case wire::kStatusBusy:
      return 1;
    case wire::kStatusBadVersion:
      return 2;
    case wire::kStatusBadMethod:
    case wire::kStatusBadMethodAttribute:
      return 3;
    case wire::kStatusBadField:
      return 4;
    default:
      break;
  }
  const unsigned code = status >> 8U;
  return (status & 0xFFU) == 0 && code <= 7 ? 4 + code : kOtherStatus;
}

std::string_view attribute_word(std::size_t place) {
  return place < kSaAttributes.size() ? kSaAttributes[place].name : kOther;
}

std::string_view method_word(std::size_t place) {
  return place < kSaMethods.size() ? kSaMethods[place].name : kOther;
}

}  // namespace

void RequestCounts::answered(std::uint16_t attribute, wire::Method method, std::uint16_t status,
                             std::chrono::nanoseconds took) {
  counts_[place(attribute_place(attribute), method_place(method), status_place(status))].add();
  const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(took.count(), 0));
  took_[static_cast<std::size_t>(std::ranges::lower_bound(kBounds, nanoseconds) - kBounds.begin())].add();
  nanoseconds_.add(nanoseconds);
}

void RequestCounts::unanswered(std::uint16_t attribute, wire::Method method) {
  counts_[place(attribute_place(attribute), method_place(method), kUnanswered)].add();
}

std::vector<SaCounts::Row> SaCounts::rows() const {
  std::vector<Row> rows;
  for (std::size_t a = 0; a < RequestCounts::kAttributes; ++a) {
    for (std::size_t m = 0; m < RequestCounts::kMethods; ++m) {
      for (std::size_t s = 0; s < RequestCounts::kStatuses; ++s) {
        const auto at = RequestCounts::place(a, m, s);
        const auto count = at_receiver.counts_[at].get() + at_server.counts_[at].get();
        if (count == 0) continue;
        rows.push_back({.attribute = attribute_word(a),
                        .method = method_word(m),
                        .status = kStatusWords[s],
                        .count = count});
      }
    }
  }
  return rows;
}

SaCounts::Times SaCounts::times() const {
  Times times;
  for (std::size_t i = 0; i < times.took.size(); ++i)
    times.took[i] = at_receiver.took_[i].get() + at_server.took_[i].get();
  times.seconds = static_cast<double>(at_receiver.nanoseconds_.get() + at_server.nanoseconds_.get()) / 1e9;
  return times;
}

}  // namespace smd::sa
