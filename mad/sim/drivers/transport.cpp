// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/drivers/transport.h"

namespace smd::sim {

Transport::Transport(Carrier& carrier, PortIndex port, Interface interface)
    : carrier_(carrier), client_(carrier.attach(port, interface, {})) {}

Transport::~Transport() { carrier_.detach(client_); }

void Transport::on_receive(Sink sink) { carrier_.set_sink(client_, std::move(sink)); }

std::expected<void, mad::TransportError> Transport::send(std::span<const std::uint8_t> mad,
                                                         const mad::Route& route,
                                                         std::chrono::milliseconds give_up) {
  return carrier_.send(client_, {.bytes = {mad.begin(), mad.end()}, .route = route, .give_up = give_up});
}

std::expected<mad::LocalPort, mad::TransportError> Transport::local() const {
  return carrier_.local(client_);
}

bool Transport::claim_sm() { return carrier_.claim_sm(client_); }
void Transport::release_sm() { carrier_.release_sm(client_); }

}  // namespace smd::sim
