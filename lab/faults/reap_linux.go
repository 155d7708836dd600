package main

import "syscall"

// adopt makes this process the parent of those whose own parents have died. The first process of a machine may take a
// second to wait for them, and until then they count among those of their user.
func adopt() error {
	const setChildSubreaper = 36 // prctl(2)
	if _, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, setChildSubreaper, 1, 0); errno != 0 {
		return errno
	}
	return nil
}

// reap waits for a process that was adopted, if it has ended.
func reap(pid int) { _, _ = syscall.Wait4(pid, nil, syscall.WNOHANG, nil) }
