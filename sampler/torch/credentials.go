package torch

import (
	"net"
	"os"
	"syscall"
)

// credentials asks the kernel to say who has sent a line. It numbers processes as this one sees them, also
// those of a container.
func credentials(conn *net.UnixConn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_PASSCRED, 1)
	}); err != nil {
		return err
	}
	return os.NewSyscallError("setsockopt", failed)
}

// sender is the process that has sent a line; 0: it is not known, or another user's.
func sender(oob []byte) int {
	list, err := syscall.ParseSocketControlMessage(oob)
	if err != nil {
		return 0
	}
	for i := range list {
		if c, err := syscall.ParseUnixCredentials(&list[i]); err == nil && int(c.Uid) == os.Getuid() {
			return int(c.Pid)
		}
	}
	return 0
}

// oobSize is the room for what the kernel says.
var oobSize = syscall.CmsgSpace(syscall.SizeofUcred)
