// SPDX-License-Identifier: Apache-2.0
#pragma once
// Questions to subnet administration about a simulated fabric that was brought up.

#include <memory>
#include <string_view>
#include <vector>

#include "mad/wire/sa/sa_mad.h"
#include "smd/sa/answer.h"
#include "tests/support/managed_world.h"

namespace smd::test {

/// A fabric after its first sweep.
class SaLab {
 public:
  explicit SaLab(std::string_view text, config::SubnetConfig config = {})
      : fabric_(spec(text)), world_(fabric_), manager_(world_, std::move(config), once()) {
    world_.run(manager_->run());
    snapshot_ = manager_->published();
    directory_ = std::make_unique<sa::Directory>(snapshot_);
  }

  sim::World& world() { return world_; }
  const sa::Directory& directory() const { return *directory_; }
  const sm::Snapshot& snapshot() const { return *snapshot_; }
  static sim::Place place_of(const sa::EndPort& port) {
    return {fmt::to_string(port.node->guid()), port.port};
  }

 private:
  base::Fabric fabric_;
  sim::World world_;
  Managed manager_;
  std::shared_ptr<const sm::Snapshot> snapshot_;
  std::unique_ptr<sa::Directory> directory_;
};

/// A question of 256 bytes: a record (or nothing) and which of its components count.
struct Question {
  wire::Method method = wire::Method::get_table;
  std::uint16_t attribute = 0;
  std::uint64_t mask = 0;
  std::uint64_t sm_key = 0;
  std::uint8_t class_version = wire::kSaClassVersion;
  std::uint32_t modifier = 0;

  template <wire::Layout... A>
  std::vector<std::uint8_t> with(const A&... parts) const {
    std::vector<std::uint8_t> bytes(wire::kMadBytes);
    const wire::MadHeader header{.mgmt_class = wire::MgmtClass::sa,
                                 .class_version = class_version,
                                 .method = method,
                                 .tid = Tid{0x1234},
                                 .attribute = attribute,
                                 .modifier = modifier};
    wire::encode(header, bytes);
    wire::encode_over(wire::SaHeader{.sm_key = sm_key, .component_mask = mask},
                      std::span(bytes).subspan(wire::kSaOffset));
    std::size_t at = wire::kSaDataOffset;
    ((wire::encode_over(parts, std::span(bytes).subspan(at)), at += A::kBytes), ...);
    return bytes;
  }
};

/// What came back.
struct Reply {
  std::uint16_t status = 0;
  wire::Method method{};
  std::uint16_t attribute = 0;
  std::size_t record_bytes = 0;
  std::vector<std::vector<std::uint8_t>> records;

  template <wire::Layout A>
  A get(std::size_t index, std::size_t at = 0) const {
    return *wire::decode<A>(std::span(records.at(index)).subspan(at));
  }
};

inline Reply reply_of(std::span<const std::uint8_t> bytes) {
  const auto header = *wire::decode<wire::MadHeader>(bytes);
  const auto sa = *wire::decode<wire::SaHeader>(bytes.subspan(wire::kSaOffset));
  Reply reply{.status = header.status,
              .method = header.method,
              .attribute = header.attribute,
              .record_bytes = std::size_t{sa.attribute_offset} * 8,
              .records = {}};
  if (reply.status != 0 || reply.record_bytes == 0) return reply;
  auto data = bytes.subspan(wire::kSaDataOffset);
  if (reply.method == wire::Method::get_resp) data = data.first(reply.record_bytes);
  for (; data.size() >= reply.record_bytes; data = data.subspan(reply.record_bytes)) {
    reply.records.emplace_back(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(reply.record_bytes));
  }
  return reply;
}

inline Reply ask(const sa::Directory& directory, std::span<const std::uint8_t> question) {
  return reply_of(*sa::answer(&directory, {}, {.sm_key = 1}, question));
}

}  // namespace smd::test
