package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"nvpeak/ui/prom"
)

// listeners are the sockets that are served.
func (f *exportFlags) listeners() (list []net.Listener, err error) {
	if f.socket {
		return inherited()
	}
	for _, address := range f.listen {
		l, err := net.Listen("tcp", address)
		if err != nil {
			for _, open := range list {
				open.Close() //nolint:errcheck // nobody has used it
			}
			return nil, fmt.Errorf("cannot serve: %w", err)
		}
		list = append(list, l)
	}
	return list, nil
}

// firstInherited is the first descriptor of systemd's socket activation.
// Source: https://www.freedesktop.org/software/systemd/man/latest/sd_listen_fds.html
const firstInherited = 3

func inherited() (list []net.Listener, err error) {
	n, _ := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if os.Getenv("LISTEN_PID") != strconv.Itoa(os.Getpid()) || n < 1 {
		return nil, usagef("--systemd-socket: systemd has handed over no socket; start it by a .socket unit")
	}
	for i := range n {
		file := os.NewFile(uintptr(firstInherited+i), "LISTEN_FD_"+strconv.Itoa(firstInherited+i))
		l, err := net.FileListener(file)
		file.Close() //nolint:errcheck // the listener has a copy
		if err != nil {
			return nil, fmt.Errorf("--systemd-socket: %w", err)
		}
		list = append(list, l)
	}
	return list, nil
}

// Bounds of those who ask.
const (
	headerTime = 10 * time.Second
	answerTime = 30 * time.Second
	idleTime   = 20 * time.Minute // longer than anybody waits between two scrapes
	maxHeaders = 64 << 10
)

// server answers scrapes; web may be nil.
func (a *app) server(exporter *prom.Exporter, web *prom.Web) *http.Server {
	s := &http.Server{Handler: routes(exporter), ConnContext: prom.Connection, ReadHeaderTimeout: headerTime, ReadTimeout: answerTime, WriteTimeout: answerTime,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeaders, ErrorLog: log.New(io.Discard, "", 0)}
	if web != nil {
		s.Handler, s.TLSConfig = web.Guard(s.Handler, healthPath), web.ServerTLS()
	}
	return s
}

// rereadOnHangup makes SIGHUP read the file again and say what came of it, as of a service; web may be nil. Whose terminal goes away
// ends by it, as every other program.
func (a *app) rereadOnHangup(ctx context.Context, web *prom.Web) {
	for _, f := range []any{a.in, a.err} {
		if file, ok := f.(*os.File); ok && term.IsTerminal(int(file.Fd())) {
			return
		}
	}
	signal.Ignore(syscall.SIGHUP) // takes it away from the one who ends by it
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hangups)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangups:
				a.say(reread(web))
			}
		}
	}()
}

func reread(web *prom.Web) string {
	if web == nil {
		return "SIGHUP: there is no --web-config to read again"
	}
	if err := web.Reload(); err != nil {
		return prom.BeforeStays + err.Error()
	}
	return "--web-config was read again"
}

// serve answers on all sockets until the context ends. What fails is told to end.
func (a *app) serve(ctx context.Context, s *http.Server, list []net.Listener, end func(error)) (stop func()) {
	var where []string
	for _, l := range list {
		scheme, run := "http", s.Serve
		if s.TLSConfig != nil {
			scheme, run = "https", func(l net.Listener) error { return s.ServeTLS(l, "", "") }
		}
		where = append(where, scheme+"://"+l.Addr().String()+"/metrics")
		go func() {
			if err := run(l); !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
				end(fmt.Errorf("cannot serve on %s: %w", l.Addr(), err))
			}
		}()
	}
	a.say("metrics on " + strings.Join(where, ", "))
	return func() {
		limit, cancel := context.WithTimeout(context.Background(), closeTimeout)
		defer cancel()
		s.Shutdown(limit) //nolint:errcheck // whoever still asks has to ask again
	}
}
