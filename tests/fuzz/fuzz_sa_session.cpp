// SPDX-License-Identifier: Apache-2.0
// Clients that register and withdraw whatever they like: the registry stays sound, and every request has its
// answer.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "smd/sa/registry/write.h"
#include "tests/support/sa_session.h"

namespace {

using namespace smd;

/// Bytes as they come; zero when they have run out.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : rest_(data, size) {}
  bool empty() const { return rest_.empty(); }
  std::uint8_t byte() {
    if (rest_.empty()) return 0;
    const auto value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  void fill(std::span<std::uint8_t> into) {
    const auto n = std::min(into.size(), rest_.size());
    std::copy_n(rest_.begin(), n, into.begin());
    rest_ = rest_.subspan(n);
  }

 private:
  std::span<const std::uint8_t> rest_;
};

void expect(bool good) {
  if (!good) __builtin_trap();
}

void check(const sa::Registry& registry) {
  std::size_t members = 0, sharing = 0;
  for (const auto& [mgid, group] : registry.groups()) {
    expect(group.well_known || group.keepers != 0);
    expect(registry.mlids().contains(group.mlid));
    members += group.members;
  }
  for (const auto& [mlid, groups] : registry.mlids()) sharing += groups;
  expect(members == registry.members().size());
  expect(sharing == registry.groups().size());
  for (const auto& [key, member] : registry.members()) {
    expect(member.join_state != 0 && registry.groups().contains(key.group));
  }
}

/// A request whose components are mostly right: of foreign bytes alone few would get beyond the first check.
std::vector<std::uint8_t> request(Input& input, const test::SaSession& session, const sa::EndPort& port) {
  const auto what = input.byte();
  const auto method = what % 2 == 0 ? wire::Method::set : wire::Method::remove;
  constexpr std::array<std::uint16_t, 3> kAttributes{
      wire::McMemberRecord::kRecord, wire::ServiceRecord::kRecord, wire::InformInfo::kAttribute};
  test::Question question{
      .method = method, .attribute = kAttributes[what / 2 % 3], .mask = ~std::uint64_t{0}};
  std::vector<std::uint8_t> bytes;
  if (what / 6 % 2 == 0) {
    Mgid mgid{{0xff, 0x12, 0x40, 0x1b, 0xff, 0xff}};
    mgid.bytes[15] = input.byte() % 8;
    auto joining = session.joining(port, mgid, input.byte() % 16);
    question.attribute = wire::McMemberRecord::kRecord;
    question.mask = joining.mask ^ (input.byte() % 4 == 0 ? input.byte() : 0);
    bytes = question.with(joining.record);
  } else {
    question.mask = input.byte() % 2 == 0 ? question.mask : input.byte();
    bytes = question.with();
    input.fill(std::span(bytes).subspan(wire::kSaDataOffset, 64));
  }
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const test::SaLab kLab("ft2:4");
  test::SaSession session(kLab, {.sm_key = 1, .groups_per_port = 4, .services_per_port = 3});
  const auto& ports = kLab.directory().end_ports();
  Input input(data, size);
  while (!input.empty()) {
    const auto& port = ports[input.byte() % ports.size()];
    const auto mad = request(input, session, port);
    const auto asked = *sa::Request::parse(mad);
    if (!sa::is_write(asked)) continue;
    session.write(port, mad);
    check(session.registry());
    if (input.byte() % 16 == 0) {
      session.now() += input.byte();
      session.expire();
      session.refresh();
    }
  }
  expect(session.ask(test::Question{.attribute = wire::McMemberRecord::kRecord, .sm_key = 1}.with()).status ==
         wire::kStatusOk);
  return 0;
}
