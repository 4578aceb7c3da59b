package notify

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"nvpeak/sampler"
)

// Ledger is a file in which every nvpeak of a user counts what became of its alerts, so that
// doctor can tell. It is a convenience: when it cannot be written, nothing is said. nil counts nothing.
type Ledger struct{ path string }

// ledgerLimit bounds what is read of the file: it holds one short entry for each way.
const ledgerLimit = 64 << 10

// NewLedger is the ledger in the user's directory for state, by XDG_STATE_HOME or HOME; nil
// where there is neither.
func NewLedger(env func(string) string) *Ledger {
	dir := env("XDG_STATE_HOME")
	if !filepath.IsAbs(dir) {
		if dir = env("HOME"); !filepath.IsAbs(dir) {
			return nil
		}
		dir = filepath.Join(dir, ".local", "state")
	}
	return &Ledger{filepath.Join(dir, "nvpeak", "alerts.json")}
}

// Read returns what is counted of each way, also by others.
func (l *Ledger) Read() []sampler.Delivery {
	if l == nil {
		return nil
	}
	info, err := os.Stat(l.path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > ledgerLimit {
		return nil
	}
	b, err := os.ReadFile(l.path)
	if err != nil {
		return nil
	}
	var list []sampler.Delivery
	if json.Unmarshal(b, &list) != nil {
		return nil // cut or foreign: it begins anew
	}
	return list
}

// add changes the entry of a way.
func (l *Ledger) add(way string, change func(*sampler.Delivery)) {
	if l == nil || os.MkdirAll(filepath.Dir(l.path), 0o700) != nil {
		return
	}
	lock, err := os.OpenFile(l.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return
	}
	defer lock.Close() //nolint:errcheck // nothing is written to it; closing it unlocks
	if syscall.Flock(int(lock.Fd()), syscall.LOCK_EX) != nil {
		return
	}
	list := l.Read()
	i := slices.IndexFunc(list, func(d sampler.Delivery) bool { return d.Way == way })
	if i < 0 {
		i, list = len(list), append(list, sampler.Delivery{Way: way})
	}
	change(&list[i])
	if b, err := json.Marshal(list); err == nil && os.WriteFile(l.path+".part", b, 0o600) == nil {
		os.Rename(l.path+".part", l.path) //nolint:errcheck // a convenience
	}
}
