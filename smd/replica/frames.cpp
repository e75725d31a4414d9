// SPDX-License-Identifier: Apache-2.0
#include "smd/replica/frames.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "smd/replica/bytes.h"

namespace smd::replica {
namespace {

/// "smdR", the first bytes of Hello.
constexpr std::uint32_t kMagic = 0x736d6452;
/// A frame that is longer is no frame: chunks and transactions are cut long before.
constexpr std::uint32_t kLongest = std::uint32_t{1} << 28U;
/// Chunks of snapshots and almost all transactions are shorter.
constexpr std::size_t kLarge = std::size_t{128} * 1024;
/// Room for the headers of a call beside its body.
constexpr std::uint32_t kLongestCall = kLargestCall + 65'536;

enum class Type : std::uint8_t {
  hello = 1,
  resume,
  role,
  chunk,
  transaction,
  ack,
  refuse,
  digests,
  call,
  call_answer
};

std::uint32_t longest_of(std::uint8_t type) {
  return type >= static_cast<std::uint8_t>(Type::call) ? kLongestCall : kLongest;
}

void put(Writer& out, const Position& at) {
  out.u64(at.epoch);
  out.u64(at.number);
}
void put(Writer& out, const Cells& cells) {
  out.u16(static_cast<std::uint16_t>(cells.size()));
  for (const auto& cell : cells) {
    if (const auto* number = std::get_if<std::int64_t>(&cell)) {
      out.u8(0);
      out.u64(static_cast<std::uint64_t>(*number));
    } else {
      out.u8(1);
      out.text(std::get<std::string>(cell));
    }
  }
}
void put(Writer& out, const Changes& changes) {
  out.u32(static_cast<std::uint32_t>(changes.size()));
  for (const auto& kind : changes) {
    out.text(kind.kind);
    out.u32(static_cast<std::uint32_t>(kind.changes.size()));
    for (const auto& change : kind.changes) {
      out.u8(change.value ? 1 : 0);
      put(out, change.key);
      if (change.value) put(out, *change.value);
    }
  }
}

Type put(Writer& out, const Hello& hello) {
  out.u32(kMagic);
  out.u16(hello.version);
  out.u16(hello.min_reader);
  out.u64(hello.port.value());
  out.text(hello.subnet);
  out.text(hello.program);
  return Type::hello;
}
Type put(Writer& out, const Resume& resume) {
  put(out, resume.have);
  out.u64(resume.source.value());
  put(out, resume.snapshot);
  out.u32(resume.chunk);
  return Type::resume;
}
Type put(Writer& out, const Role& role) {
  out.u8(role.master ? 1 : 0);
  out.u64(role.port.value());
  put(out, role.latest);
  return Type::role;
}
Type put(Writer& out, const SnapshotChunk& chunk) {
  put(out, chunk.of);
  out.u64(chunk.source.value());
  out.u32(chunk.index);
  out.u32(chunk.count);
  put(out, chunk.rows);
  return Type::chunk;
}
Type put(Writer& out, const Transaction& transaction) {
  put(out, transaction.at);
  out.u64(transaction.source.value());
  put(out, transaction.changes);
  return Type::transaction;
}
Type put(Writer& out, const Ack& ack) {
  put(out, ack.at);
  return Type::ack;
}
Type put(Writer& out, const Refuse& refuse) {
  out.u64(refuse.epoch);
  out.u64(refuse.port.value());
  out.u8(refuse.master ? 1 : 0);
  return Type::refuse;
}
Type put(Writer& out, const DigestsAt& digests) {
  put(out, digests.at);
  out.u32(static_cast<std::uint32_t>(digests.digests.size()));
  for (const auto& [kind, digest] : digests.digests) {
    out.text(kind);
    out.u64(digest);
  }
  return Type::digests;
}

void put(Writer& out, const Headers& headers) {
  out.u16(static_cast<std::uint16_t>(headers.size()));
  for (const auto& [name, value] : headers) {
    out.text(name);
    out.text(value);
  }
}
Type put(Writer& out, const Call& call) {
  out.u64(call.id);
  out.u8(call.has_token ? 1 : 0);
  for (const auto* text : {&call.caller, &call.role, &call.address, &call.method, &call.target})
    out.text(*text);
  put(out, call.headers);
  out.text(call.body);
  return Type::call;
}
Type put(Writer& out, const CallAnswer& answer) {
  out.u64(answer.id);
  out.u16(answer.status);
  put(out, answer.at);
  put(out, answer.headers);
  out.text(answer.body);
  return Type::call_answer;
}

std::uint64_t epoch(Reader& in) {
  const auto value = in.u64();
  if (value > kLargestEpoch) in.fail();
  return value;
}
Position position(Reader& in) {
  Position at;
  at.epoch = epoch(in);
  at.number = in.u64();
  return at;
}
Cells cells(Reader& in) {
  Cells all;
  const auto count = in.u16();
  for (unsigned i = 0; i < count && in.good(); ++i) {
    const auto kind = in.u8();
    if (kind > 1) in.fail();
    if (kind == 0) {
      all.emplace_back(static_cast<std::int64_t>(in.u64()));
    } else {
      all.emplace_back(in.text());
    }
  }
  return all;
}
Changes changes(Reader& in) {
  Changes all;
  const auto kinds = in.u32();
  for (std::uint32_t i = 0; i < kinds && in.good(); ++i) {
    auto& kind = all.emplace_back();
    kind.kind = in.text();
    const auto rows = in.u32();
    for (std::uint32_t row = 0; row < rows && in.good(); ++row) {
      const auto has_value = in.flag();
      auto& change = kind.changes.emplace_back(Change{.key = cells(in), .value = std::nullopt});
      if (has_value) change.value = cells(in);
    }
  }
  return all;
}

Frame hello(Reader& in) {
  Hello hello;
  if (in.u32() != kMagic) in.fail();
  hello.version = in.u16();
  hello.min_reader = in.u16();
  hello.port = Guid{in.u64()};
  hello.subnet = in.text();
  hello.program = in.text();
  // A later version may say more.
  if (hello.version > kVersion) in.skip();
  return hello;
}
Frame resume(Reader& in) {
  Resume resume;
  resume.have = position(in);
  resume.source = Guid{in.u64()};
  resume.snapshot = position(in);
  resume.chunk = in.u32();
  return resume;
}
Frame role(Reader& in) {
  Role role;
  role.master = in.flag();
  role.port = Guid{in.u64()};
  role.latest = position(in);
  return role;
}
Frame chunk(Reader& in) {
  SnapshotChunk chunk;
  chunk.of = position(in);
  chunk.source = Guid{in.u64()};
  chunk.index = in.u32();
  chunk.count = in.u32();
  if (chunk.index >= chunk.count) in.fail();
  chunk.rows = changes(in);
  return chunk;
}
Frame transaction(Reader& in) {
  Transaction transaction;
  transaction.at = position(in);
  transaction.source = Guid{in.u64()};
  transaction.changes = changes(in);
  return transaction;
}
Frame ack(Reader& in) { return Ack{position(in)}; }
Frame refuse(Reader& in) {
  Refuse refuse;
  refuse.epoch = epoch(in);
  refuse.port = Guid{in.u64()};
  refuse.master = in.flag();
  return refuse;
}
Frame digests_at(Reader& in) {
  DigestsAt digests;
  digests.at = position(in);
  const auto count = in.u32();
  for (std::uint32_t i = 0; i < count && in.good(); ++i) {
    auto kind = in.text();
    digests.digests.insert_or_assign(std::move(kind), in.u64());
  }
  return digests;
}

Headers headers(Reader& in) {
  Headers all;
  const auto count = in.u16();
  for (unsigned i = 0; i < count && in.good(); ++i) {
    auto name = in.text();
    all.emplace_back(std::move(name), in.text());
  }
  return all;
}
Frame call(Reader& in) {
  Call call;
  call.id = in.u64();
  call.has_token = in.flag();
  for (auto* text : {&call.caller, &call.role, &call.address, &call.method, &call.target}) *text = in.text();
  call.headers = headers(in);
  call.body = in.text();
  return call;
}
Frame call_answer(Reader& in) {
  CallAnswer answer;
  answer.id = in.u64();
  answer.status = in.u16();
  answer.at = position(in);
  answer.headers = headers(in);
  answer.body = in.text();
  return answer;
}

constexpr std::array kDecoders{hello, resume, role,       chunk, transaction,
                               ack,   refuse, digests_at, call,  call_answer};

}  // namespace

Bytes encode(const Frame& frame) {
  Writer out;
  out.u32(0);
  out.u8(0);
  const auto type = std::visit([&](const auto& what) { return put(out, what); }, frame);
  auto bytes = std::move(out).bytes();
  const auto length = static_cast<std::uint32_t>(bytes.size() - 4);
  for (unsigned i = 0; i < 4; ++i) bytes[i] = static_cast<std::uint8_t>(length >> (24U - 8U * i));
  bytes[4] = static_cast<std::uint8_t>(type);
  return bytes;
}

void FrameReader::add(std::span<const std::uint8_t> bytes) {
  if (at_ == bytes_.size()) {
    bytes_.clear();
    at_ = 0;
  }
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

bool FrameReader::is_large() const {
  const auto rest = std::span(bytes_).subspan(at_);
  if (rest.size() < kLarge) return false;
  const std::size_t length = Reader(rest.first(4)).u32();
  return length > kLarge && rest.size() - 4 >= length;
}

std::expected<std::optional<Frame>, std::string> FrameReader::next() {
  const auto rest = std::span(bytes_).subspan(at_);
  if (rest.size() < 5) return std::nullopt;
  Reader header(rest.first(5));
  const auto length = header.u32();
  const auto type = header.u8();
  if (length == 0 || length > longest_of(type))
    return std::unexpected(fmt::format("a frame of {} bytes", length));
  if (type == 0 || type > kDecoders.size()) return std::unexpected(fmt::format("a frame of type {}", type));
  if (rest.size() - 4 < length) return std::nullopt;
  Reader in(rest.subspan(5, length - 1));
  auto frame = kDecoders[type - 1U](in);
  if (!in.good() || !in.at_end()) return std::unexpected(fmt::format("a wrong frame of type {}", type));
  at_ += length + std::size_t{4};
  if (at_ > bytes_.size() / 2) {
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(at_));
    at_ = 0;
    if (bytes_.capacity() > kLarge && bytes_.size() < kLarge / 2) bytes_.shrink_to_fit();
  }
  return frame;
}

}  // namespace smd::replica
