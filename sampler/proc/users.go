package proc

import (
	"os/user"
	"sync"
	"time"
)

// lookupPatience is how long a tick waits for the name of a user. A directory service
// (LDAP, SSSD) can take seconds; until it answers the number is shown.
const lookupPatience = 50 * time.Millisecond

// users caches the names of user ids for the life of the program.
type users struct {
	lookup func(uid string) (string, error)

	mu    sync.Mutex
	names map[string]string // "" while the question is out
}

func lookupUser(uid string) (string, error) {
	u, err := user.LookupId(uid)
	if err != nil {
		return "", err
	}
	return u.Username, nil
}

// name returns the name of a user, or the number where there is none (yet).
func (u *users) name(uid string) string {
	u.mu.Lock()
	name, asked := u.names[uid]
	u.names[uid] = name
	u.mu.Unlock()
	if name != "" {
		return name
	}
	if asked {
		return uid
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		name, err := u.lookup(uid)
		if err != nil || name == "" {
			name = uid
		}
		u.mu.Lock()
		u.names[uid] = name
		u.mu.Unlock()
	}()
	select {
	case <-answered:
	case <-time.After(lookupPatience):
		return uid
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.names[uid]
}
