// SPDX-License-Identifier: Apache-2.0
#pragma once
// What systemd is told (sd_notify(3)); nothing happens where it did not start us.

#include <optional>
#include <string>

#include "mad/clock.h"

namespace smd::daemon {

/// sd_notify(3): READY=1. These calls do nothing where systemd has not set NOTIFY_SOCKET.
void notify_ready();
/// STOPPING=1.
void notify_stopping();
/// Of Type=notify-reload's words also older systemds understand these; notify_ready() ends it.
void notify_reloading();
void notify_status(const std::string& status);
void notify_alive();
/// How often notify_alive() is expected.
std::optional<mad::Duration> watchdog();

}  // namespace smd::daemon
