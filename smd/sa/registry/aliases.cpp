// SPDX-License-Identifier: Apache-2.0
#include "smd/sa/registry/aliases.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "mad/wire/sa/records.h"
#include "smd/sa/registry/membership.h"

namespace smd::sa {
namespace {

using AliasBlockKey = wire::GuidInfoRecordId;

constexpr unsigned kAliasBlock = 8,
                   kFirstAlias = 4;  ///< components: LID, block, two that are reserved, the GUIDs
/// GUIDs that we choose: the company's number of the field's first SMs, which no card's GUID begins with, so
/// that they are known at sight (OpenSM's are the same).
constexpr std::uint64_t kChosen = 0x0014050000000000U;

/// Which places of which port a request is about.
struct AliasRequest {
  const EndPort* port = nullptr;
  std::uint8_t block = 0;
  wire::GuidInfo guids;
  std::array<bool, kAliasBlock> named{};
};

std::expected<AliasRequest, Refusal> alias_request(const Writing& writing, const Requester& requester,
                                                   const Request& request) {
  const auto id = wire::decode<AliasBlockKey>(request.data);
  const auto guids = wire::decode<wire::GuidInfo>(request.data.subspan(AliasBlockKey::kAttributeAt));
  if (!id || !guids) return std::unexpected(make_refusal({}, {}, {}, "the record is too short"));
  if (!request.has(0) || !request.has(1)) {
    return std::unexpected(make_refusal(request.has(0) ? "BlockNum" : "LID", {}, {},
                                        "a block of GUIDs is named by it", wire::kSaInsufficientComponents));
  }
  AliasRequest part{
      .port = writing.directory.by_lid(id->lid), .block = id->block, .guids = *guids, .named = {}};
  if (part.port == nullptr) {
    return std::unexpected(
        make_refusal("LID", fmt::format("{}", id->lid), {}, "no port has it", wire::kSaNoRecords));
  }
  const bool own = requester.port != nullptr && requester.port->guid == part.port->guid;
  if (!own && !requester.trusted) {
    return std::unexpected(make_refusal("LID", fmt::format("{}", id->lid), {},
                                        "the request comes from another port, without the SM_Key",
                                        wire::kSaDenied));
  }
  if (part.block >= guid_blocks(*part.port)) {
    return std::unexpected(make_refusal("BlockNum", fmt::format("{}", part.block), {},
                                        "the port's table of GUIDs is not as long"));
  }
  for (unsigned i = 0; i < kAliasBlock; ++i) {
    part.named[i] = request.has(kFirstAlias + i);
    const auto index = part.block * kAliasBlock + i;
    if (part.named[i] && index == 0) {
      return std::unexpected(make_refusal("GUID0", {}, {}, "the first GUID is the port's own and stays"));
    }
    if (part.named[i] && index >= part.port->info().info.guid_cap) {
      return std::unexpected(
          make_refusal("GUID", fmt::format("{}", index), {}, "the port's table of GUIDs is not as long"));
    }
  }
  return part;
}

/// The port that had it has left, not to be taken for one that is merely silent. It keeps its aliases until
/// another port asks for them: a virtual machine that moves to another host, say.
bool is_abandoned(const Writing& writing, const AliasKey& key) {
  const bool gone = writing.liveness == nullptr || writing.liveness->is_gone(key.port);
  return gone && writing.directory.by_guid(key.port) == nullptr;
}

/// Drivers mean by it that a place has no GUID: it is no address.
constexpr Guid kAllOnes{~std::uint64_t{0}};

/// Of no port, a port that is only silent now included.
bool is_free(const Writing& writing, Guid guid) {
  const auto& registry = writing.registry;
  const auto& lids = writing.directory.snapshot().decided.lids;
  if (guid == kAllOnes || registry.users().contains(guid) || registry.clients().contains(guid)) return false;
  if (lids && lids->find(guid) != nullptr) return false;
  if (const auto* key = registry.by_alias(guid); key != nullptr && !is_abandoned(writing, *key)) return false;
  return writing.directory.by_guid(guid) == nullptr && writing.directory.subnet().find(guid) == nullptr;
}

/// By port and place, so that a port that asks again without our store gets what it had.
Guid chosen(const Writing& writing, const AliasKey& key) {
  std::uint64_t mixed = (key.port.value() * 256 + key.index) * 0x9E3779B97F4A7C15U;
  for (;; ++mixed) {
    const Guid guid{kChosen | (mixed >> 24U)};
    if (guid.value() != kChosen && is_free(writing, guid)) return guid;
  }
}

std::vector<std::uint8_t> record_of(const AliasRequest& part, const Registry& registry) {
  std::vector<std::uint8_t> bytes(AliasBlockKey::kAttributeAt + wire::GuidInfo::kBytes);
  wire::encode_over(AliasBlockKey{.lid = part.port->lid, .block = part.block}, bytes);
  wire::encode_over(guid_block(*part.port, registry, part.block),
                    std::span(bytes).subspan(AliasBlockKey::kAttributeAt));
  return bytes;
}

/// What the port had registered by this name ends with it.
void forget_member(Writing& writing, Guid alias) {
  std::vector<MemberKey> gone;
  for (const auto& [key, member] : writing.registry.members()) {
    if (key.port == alias) gone.push_back(key);
  }
  for (const auto& key : gone) {
    writing.registry.drop_member(key);
    end_if_empty(writing, key.group, "its last full member has lost its GUID");
  }
}

}  // namespace

const EndPort* find_port(const Directory& directory, const Registry& registry, const Gid& gid) {
  if (const auto* port = directory.by_gid(gid)) return port;
  if (gid.prefix() != directory.prefix() && gid.prefix() != kDefaultSubnetPrefix) return nullptr;
  const auto* key = registry.by_alias(gid.guid());
  return key != nullptr ? directory.by_guid(key->port) : nullptr;
}

unsigned guid_blocks(const EndPort& port) {
  return (std::max<unsigned>(port.info().info.guid_cap, 1) + kAliasBlock - 1) / kAliasBlock;
}

wire::GuidInfo guid_block(const EndPort& port, const Registry& registry, unsigned block) {
  wire::GuidInfo guids;
  if (block == 0) guids.guids[0] = port.guid;
  const auto first = block * kAliasBlock;
  for (auto row = registry.aliases().lower_bound({port.guid, static_cast<std::uint16_t>(first)});
       row != registry.aliases().end() && row->first.port == port.guid &&
       row->first.index < first + kAliasBlock;
       ++row) {
    guids.guids[row->first.index - first] = row->second;
  }
  return guids;
}

AliasAnswer add_aliases(Writing& writing, const Requester& requester, const Request& request) {
  const auto part = alias_request(writing, requester, request);
  if (!part) return std::unexpected(part.error());
  auto& registry = writing.registry;
  const auto key_of = [&](unsigned i) {
    return AliasKey{part->port->guid, static_cast<std::uint16_t>(part->block * kAliasBlock + i)};
  };
  std::string taken;
  for (unsigned i = 0; i < kAliasBlock; ++i) {
    if (!part->named[i]) continue;
    const auto key = key_of(i);
    auto guid = part->guids.guids[i];
    const auto* has = registry.aliases().find(key);
    if (has != nullptr && (guid == Guid{} || guid == *has)) continue;
    if (guid == Guid{}) guid = chosen(writing, key);
    if (!is_free(writing, guid)) {
      fmt::format_to(std::back_inserter(taken), "{}{}", taken.empty() ? "" : ", ", guid);
      continue;
    }
    if (has != nullptr) forget_member(writing, *has);
    if (const auto* of_other = registry.by_alias(guid)) {
      const auto other = *of_other;
      forget_member(writing, guid);
      registry.drop_alias(other);
    }
    registry.put_alias(key, guid);
  }
  Granted granted{.record = record_of(*part, registry), .rest = std::nullopt};
  if (!taken.empty())
    granted.rest = make_refusal("GUID", std::move(taken), {}, "another port has this GUID, or it is all ones",
                                wire::kStatusOk);
  return granted;
}

AliasAnswer drop_aliases(Writing& writing, const Requester& requester, const Request& request) {
  const auto part = alias_request(writing, requester, request);
  if (!part) return std::unexpected(part.error());
  for (unsigned i = 0; i < kAliasBlock; ++i) {
    const AliasKey key{part->port->guid, static_cast<std::uint16_t>(part->block * kAliasBlock + i)};
    const auto* has = writing.registry.aliases().find(key);
    if (!part->named[i] || has == nullptr) continue;
    forget_member(writing, *has);
    writing.registry.drop_alias(key);
  }
  return Granted{.record = record_of(*part, writing.registry), .rest = std::nullopt};
}

std::vector<sm::GuidBlock> blocks_of(const Directory& directory, const Registry& registry,
                                     const std::set<Guid>& ports) {
  std::vector<sm::GuidBlock> blocks;
  for (const auto guid : ports) {
    const auto* port = directory.by_guid(guid);
    if (port == nullptr) continue;
    for (unsigned block = 0; block < guid_blocks(*port); ++block) {
      blocks.push_back({guid, static_cast<std::uint8_t>(block), guid_block(*port, registry, block).guids});
    }
  }
  return blocks;
}

}  // namespace smd::sa
