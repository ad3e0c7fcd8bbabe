import CPlatform
public import Glibc

/// Lets a child process begin without the descriptors of its parent, from the first one on
/// (`posix_spawn_file_actions_addclosefrom_np` of glibc 2.34, which Swift's module does not show).
public func closeDescriptors(from first: CInt, in actions: inout posix_spawn_file_actions_t) {
  let code = unsafe purser_spawn_close_from(&actions, first)
  precondition(code == 0, "\(first) is no descriptor")
}
