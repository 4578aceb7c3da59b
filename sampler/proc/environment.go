package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"nvpeak/sampler/redact"
)

// Environ is the whole environment of the process pid that started at start, without what is secret in it. Its errors
// are those of Signal.
func (h *Host) Environ(pid int, start time.Time) ([]string, error) {
	h.mu.Lock()
	b, err := h.files.read(strconv.Itoa(pid)+"/environ", maxEnviron)
	text := string(b)
	h.mu.Unlock()
	if err != nil {
		return nil, ofProcess("environment of", pid, err)
	}
	if err := h.same(pid, start); err != nil { // after reading: what was read is its own
		return nil, err
	}
	var list []string
	for entry := range strings.SplitSeq(strings.TrimRight(text, "\x00"), "\x00") {
		if entry != "" {
			list = append(list, redact.Text(entry))
		}
	}
	return list, nil
}

// Self is who acts, and whether that is root.
func (h *Host) Self() (user string, root bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	uid := os.Geteuid()
	return h.users.name(fmt.Sprint(uid)), uid == 0
}
