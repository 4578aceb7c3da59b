package prom

import (
	"crypto/sha256"
	"crypto/subtle"
	"sync"

	"golang.org/x/crypto/bcrypt"
)

// passwords checks them. A hash takes tens of milliseconds, by intention: those that were right are known again at once, whoever
// else guesses meanwhile, and one at a time is looked at, so that wrong ones cost no more than one core.
type passwords struct {
	of   map[string]string
	mu   sync.Mutex                   // of seen
	seen map[string][sha256.Size]byte // of the password that was right
	slow sync.Mutex                   // one hash at a time
}

// nobody is the hash that a name which nobody has is compared with, so that the time does not tell names.
var nobody = sync.OnceValue(func() []byte {
	hash, _ := bcrypt.GenerateFromPassword([]byte("nobody"), bcrypt.DefaultCost) //nolint:errcheck // the password is short
	return hash
})

func (p *passwords) right(user, password string) bool {
	sum := sha256.Sum256([]byte(password))
	if p.known(user, sum) {
		return true
	}
	p.slow.Lock()
	defer p.slow.Unlock()
	hash, known := p.of[user]
	if !known {
		bcrypt.CompareHashAndPassword(nobody(), []byte(password)) //nolint:errcheck // for its time
		return false
	}
	if bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) != nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.seen == nil {
		p.seen = map[string][sha256.Size]byte{}
	}
	p.seen[user] = sum
	return true
}

func (p *passwords) known(user string, sum [sha256.Size]byte) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	before, ok := p.seen[user]
	return ok && subtle.ConstantTimeCompare(before[:], sum[:]) == 1
}
