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
install(FILES ${CMAKE_SOURCE_DIR}/docs/operations.md ${CMAKE_SOURCE_DIR}/docs/configuration.md
  ${CMAKE_SOURCE_DIR}/docs/openapi.json DESTINATION share/doc/smd)
install(FILES ${CMAKE_SOURCE_DIR}/docs/man/smd.8 DESTINATION share/man/man8)
install(FILES ${CMAKE_SOURCE_DIR}/docs/man/smd.toml.5 DESTINATION share/man/man5)
install(FILES ${CMAKE_SOURCE_DIR}/README.md ${CMAKE_SOURCE_DIR}/CHANGELOG.md DESTINATION share/doc/smd)
install(FILES ${CMAKE_SOURCE_DIR}/systemd/copyright DESTINATION share/doc/smd)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME smd)
set(CPACK_PACKAGE_CONTACT "The smd maintainers <maintainers@users.noreply.github.com>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "InfiniBand subnet manager
 smd discovers an InfiniBand fabric, gives it LIDs and routes that are proven
 free of loops and credit loops before they are written, and brings its ports
 up. It also routes fabrics offline, from a file, and simulates them.")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "passwd")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${CMAKE_SOURCE_DIR}/systemd/conffiles
  ${CMAKE_SOURCE_DIR}/systemd/postinst ${CMAKE_SOURCE_DIR}/systemd/prerm ${CMAKE_SOURCE_DIR}/systemd/postrm)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
include(CPack)
