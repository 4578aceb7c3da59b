package torch

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// The directories of a user, each private to him: monitors has a socket of everybody who listens, site those of the
// reporter's file.
const (
	monitors = "monitors"
	sites    = "site"
	socket   = ".sock"
)

// maxPath is how long the path of a socket can be: https://man7.org/linux/man-pages/man7/unix.7.html
const maxPath = 107

// bases are where a user's directories can be, best first. A monitor takes the first that it can, a reporter looks
// into all: the two may have been started with other environments.
func bases(env func(string) string) (list []string) {
	uid := strconv.Itoa(os.Getuid())
	if dir := env("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		list = append(list, filepath.Join(dir, "nvpeak"))
	}
	return append(list, filepath.Join("/run/user", uid, "nvpeak"), filepath.Join("/tmp", "nvpeak-"+uid))
}

var errNotPrivate = errors.New("the directory is another user's, or open to others")

// private makes a directory that only its user can look into, below one that may be anybody's.
func private(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(owner.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s: %w", dir, errNotPrivate)
	}
	return nil
}

// listen opens a socket in the first of the directories where one can be.
func listen(bases []string) (conn *net.UnixConn, base, name string, err error) {
	name = strconv.Itoa(os.Getpid()) + "-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	for _, base = range bases {
		path := filepath.Join(base, monitors, name+socket)
		if len(path) > maxPath {
			err = errors.Join(err, fmt.Errorf("%s: too long for a socket", path))
			continue
		}
		conn, e := open(base, path)
		if e == nil {
			sweep(base)
			return conn, base, name, nil
		}
		err = errors.Join(err, e)
	}
	return nil, "", "", err
}

// open makes a socket. The directories may go while it is at it: another monitor that ends removes them when they
// are empty.
func open(base, path string) (conn *net.UnixConn, err error) {
	for range 3 {
		if err = errors.Join(private(base), private(filepath.Dir(path))); err == nil {
			conn, err = net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
		}
		if err == nil || !errors.Is(err, os.ErrNotExist) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	if err = credentials(conn); err != nil {
		conn.Close() //nolint:errcheck // it is given up
		os.Remove(path)
		return nil, err
	}
	return conn, nil
}

// sweep removes what somebody left who was killed: sockets that nobody reads, and the files that belonged to them.
func sweep(base string) {
	files := entries(base, sites) // first: whoever has files here has a socket by then
	live := map[string]bool{}
	for _, e := range entries(base, monitors) {
		path := filepath.Join(base, monitors, e)
		conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
		if err == nil {
			conn.Close() //nolint:errcheck // nothing was sent
		}
		if errors.Is(err, syscall.ECONNREFUSED) && strings.HasSuffix(e, socket) {
			os.Remove(path)
			continue
		}
		live[strings.TrimSuffix(e, socket)] = true
	}
	for _, e := range files {
		if !live[e] {
			os.RemoveAll(filepath.Join(base, sites, e))
		}
	}
}

func entries(base, dir string) (names []string) {
	list, _ := os.ReadDir(filepath.Join(base, dir))
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}
