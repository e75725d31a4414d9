// SPDX-License-Identifier: Apache-2.0
// A peer of a replica says what it likes.
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "smd/replica/journal.h"
#include "smd/replica/receiver.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace smd::replica;
  Receiver receiver(smd::store::nothing_kept());
  Journal journal;
  Sender sender(journal);
  FrameReader reader;
  journal.begin({1, 0}, smd::Guid{1});
  reader.add(std::span(data, size));
  for (auto frame = reader.next(); frame && *frame; frame = reader.next()) {
    encode(**frame);
    if (auto* chunk = std::get_if<SnapshotChunk>(&**frame)) (void)receiver.take(std::move(*chunk));
    if (const auto* transaction = std::get_if<Transaction>(&**frame)) (void)receiver.take(*transaction);
    if (const auto* word = std::get_if<DigestsAt>(&**frame)) (void)receiver.compare(*word);
    if (const auto* resume = std::get_if<Resume>(&**frame)) sender.resume(*resume);
    if (const auto* ack = std::get_if<Ack>(&**frame)) sender.acknowledged(ack->at);
    (void)sender.next();
    (void)state_of(receiver.image(), receiver.take_changed(), smd::store::nothing_kept());
  }
  return 0;
}
