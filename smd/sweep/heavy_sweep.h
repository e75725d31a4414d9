// SPDX-License-Identifier: Apache-2.0
#pragma once
// A heavy sweep: everything that the fabric says about itself, read over directed routes.

#include <expected>
#include <functional>
#include <set>
#include <string>

#include "mad/asio.h"
#include "mad/clock.h"
#include "mad/transactions/transactions.h"
#include "smd/sweep/m_key_hints.h"
#include "smd/sweep/subnet.h"

namespace smd::sm::inline sweeping {

struct SweepOptions {
  /// Only we have written since `before`: tables that still look as we left them are not read again.
  bool trust_tables = false;
  /// We are master: PortStateChange is cleared before the ports of a switch are read, so that whatever
  /// changes after that sets it again. Traps need not tell: a switch repeats one only after its
  /// SubnetTimeOut. The only Set of a sweep before all is decided.
  bool clear_changes = false;
  /// The next wave of probes does not wait longer than this for answers that do not come. Links between two
  /// nodes found in one wave may then be probed from both ends.
  mad::Duration patience = std::chrono::milliseconds(50);
  /// incremental_sweep() asks it while nothing is answered for that long: has something happened that it does
  /// not know of?
  std::function<bool()> urgent = {};
  /// incremental_sweep() gives up a switch that answered and then fell silent while it was read: the way to
  /// it may have gone. Once in a sweep, because a switch that answers nothing else would look the same each
  /// time.
  bool restart_lost = false;
  /// Port GUIDs of SMs that have not answered SMInfo for long: they are asked once, and waited for so long,
  /// because the fabric may be without a master.
  std::set<Guid> lost_sms = {};
  mad::Duration lost_sm_wait = std::chrono::milliseconds(50);
  MKeyHints m_keys = {};
  /// The end port (port GUID) may hold P_Keys past the first block of its table. May be empty: of no port is
  /// that known.
  std::function<bool(Guid port)> had_further_pkeys = {};
  /// Ports have different P_Keys: a table that a sweep was not answered is asked for by the next one, and its
  /// node waits until then. Where all have the same the port goes Active by what a reset leaves.
  bool pkeys_matter = false;
};

/// Reads the whole fabric, with Gets but for `clear_changes`. `before` (may be null) is what was known:
/// tables that still stand as we left them are taken from it, and of two places that show one GUID the one in
/// it stays. `tx`, `clock` and `before` outlive the coroutine. Fails only where our own port does not answer.
/// Time-outs of unresponsive nodes run in parallel with all other requests.
asio::awaitable<std::expected<Subnet, std::string>> heavy_sweep(mad::Transactions* tx, mad::Clock* clock,
                                                                const Subnet* before, SweepOptions options);

}  // namespace smd::sm::inline sweeping
