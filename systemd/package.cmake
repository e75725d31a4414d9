# SPDX-License-Identifier: Apache-2.0
# What is installed, and the Debian package made of it (`./dev package`).
install(FILES ${CMAKE_SOURCE_DIR}/config/smd.toml DESTINATION /etc/smd OPTIONAL)
install(FILES ${CMAKE_SOURCE_DIR}/systemd/smd.service ${CMAKE_SOURCE_DIR}/systemd/smd@.service
  DESTINATION /lib/systemd/system)
foreach(kind sysusers tmpfiles)
  install(FILES ${CMAKE_SOURCE_DIR}/systemd/smd.${kind} DESTINATION lib/${kind}.d RENAME smd.conf)
endforeach()
install(FILES ${CMAKE_SOURCE_DIR}/systemd/smd.modules DESTINATION lib/modules-load.d RENAME smd.conf)
install(FILES ${CMAKE_SOURCE_DIR}/systemd/60-smd.rules DESTINATION /lib/udev/rules.d)
install(PROGRAMS ${CMAKE_SOURCE_DIR}/systemd/restart-units DESTINATION lib/smd)
# As in the source, so that the links of README.md and of the documents lead somewhere.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/docs DESTINATION share/doc/smd PATTERN man EXCLUDE)
install(FILES ${CMAKE_SOURCE_DIR}/docs/man/smd.8 DESTINATION share/man/man8)
install(FILES ${CMAKE_SOURCE_DIR}/docs/man/smd.toml.5 DESTINATION share/man/man5)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md DESTINATION share/doc/smd)
install(FILES ${CMAKE_SOURCE_DIR}/systemd/network.conf DESTINATION share/doc/smd/examples)
install(FILES ${CMAKE_SOURCE_DIR}/systemd/copyright DESTINATION share/doc/smd)
install(FILES ${CMAKE_SOURCE_DIR}/systemd/completion.bash DESTINATION share/bash-completion/completions RENAME smd)
install(FILES ${CMAKE_SOURCE_DIR}/systemd/smd.logrotate DESTINATION /etc/logrotate.d RENAME smd)
# Users had it there, and scripts may name it.
install(CODE [[
  set(root "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}")
  file(MAKE_DIRECTORY "${root}/sbin")
  file(CREATE_LINK ../bin/smd "${root}/sbin/smd" SYMBOLIC)
]])

# As Debian wants them: compressed, the package's own changes in a file of their own.
string(TIMESTAMP SMD_PACKAGED "%a, %d %b %Y %H:%M:%S +0000" UTC)
set(SMD_MAINTAINERS "The smd maintainers <maintainers@users.noreply.github.com>")
file(WRITE ${CMAKE_BINARY_DIR}/changelog.Debian
  "smd (${PROJECT_VERSION}-1) unstable; urgency=medium\n\n  * Version ${PROJECT_VERSION}; its changes are in "
  "CHANGELOG.md.gz.\n\n -- ${SMD_MAINTAINERS}  ${SMD_PACKAGED}\n")
install(FILES ${CMAKE_BINARY_DIR}/changelog.Debian DESTINATION share/doc/smd)
install(CODE [[
  foreach(file man/man8/smd.8 man/man5/smd.toml.5 doc/smd/CHANGELOG.md doc/smd/changelog.Debian)
    execute_process(COMMAND gzip -9nf "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/share/${file}" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
]])

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME smd)
set(CPACK_PACKAGE_CONTACT "${SMD_MAINTAINERS}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "smd discovers an InfiniBand fabric, gives it LIDs and routes that are proven
free of loops and credit loops before they are written, and brings its ports
up. It also routes fabrics offline, from a file, and simulates them.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# postinst: systemd-sysusers, else useradd.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "systemd | passwd")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "infiniband-diags")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "ibutils")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/systemd/conffiles
  ${CMAKE_SOURCE_DIR}/systemd/postinst ${CMAKE_SOURCE_DIR}/systemd/prerm ${CMAKE_SOURCE_DIR}/systemd/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
