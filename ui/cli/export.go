package cli

import (
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"nvpeak/advice/watch"
	"nvpeak/sampler"
	"nvpeak/sampler/kubelet"
	"nvpeak/ui/prom"
)

// exportFlags are those of `export`.
type exportFlags struct {
	listen    []string
	config    string
	socket    bool
	processes int
	none      bool
	dcgm      bool
	kubelet   string
	web       *prom.Web // what config says; nil: there is none
}

// exportAddress is where it listens: nobody else's business unless somebody says so. 9835 is the port of
// nvidia_gpu_exporter, in whose place it stands.
const exportAddress = "127.0.0.1:9835"

func exportCommand(a *app) *cobra.Command {
	f := &exportFlags{}
	c := &cobra.Command{
		Use:   "export",
		Short: "metrics for Prometheus, with the peaks since each scraper's scrape before",
		Long: "export serves metrics on /metrics until it is stopped. The peaks are those since the scrape before over the same connection; who comes\n" +
			"anew gets those of the last 5 minutes, and ?window=30s says it. /-/healthy tells whether the GPUs are read. SIGHUP reads --web-config\n" +
			"again, where no terminal is hung up.",
		Example: "  nvpeak export\n  nvpeak export --listen :9835 --web-config web.yml --dcgm-names",
		Args:    noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.export(cmd.Context(), f) },
	}
	c.Flags().StringArrayVar(&f.listen, "listen", []string{exportAddress}, "serve on this `ADDRESS`; may be given several times")
	c.Flags().StringVar(&f.config, "web-config", "", "TLS, users and passwords from a `FILE` as Prometheus' exporters have it")
	c.Flags().BoolVar(&f.socket, "systemd-socket", false, "serve on the socket that systemd hands over, instead of --listen")
	c.Flags().IntVar(&f.processes, "processes", 64, "series for so many processes, those with the most memory; a `NUMBER` from 0 to 1024")
	c.Flags().BoolVar(&f.none, "no-process", false, "no series for processes")
	c.Flags().BoolVar(&f.dcgm, "dcgm-names", false, "also the names and units of dcgm-exporter (DCGM_FI_DEV_FB_USED …)")
	c.Flags().StringVar(&f.kubelet, "kubelet-socket", kubelet.Socket, "ask the kubelet on this `SOCKET` which pods have the GPUs; where there is none nobody is asked")
	a.opt.bind(c.Flags(), slices.Concat(measuring, passingOn, []string{"need", "gpu-levels", "host-levels", "interval", "requests", "lang"})...)
	return c
}

func (f *exportFlags) check(trouble func(string)) error {
	if f.processes < 0 || f.processes > 1024 {
		return usagef("--processes %d: a number from 0 to 1024", f.processes)
	}
	if f.none {
		f.processes = 0
	}
	for _, address := range f.listen {
		_, port, err := net.SplitHostPort(address)
		if err == nil {
			_, err = net.LookupPort("tcp", port)
		}
		if err != nil {
			return usagef("--listen %s: an address and a port, such as %s or :9835", address, exportAddress)
		}
	}
	if f.config == "" {
		return nil
	}
	var err error
	if f.web, err = prom.OpenWeb(f.config, trouble); err != nil {
		return usagef("--web-config: %w", err)
	}
	return nil
}

// export serves metrics until it is stopped.
func (a *app) export(ctx context.Context, f *exportFlags) error {
	if a.listDemos() {
		return nil
	}
	if err := f.check(a.say); err != nil {
		return err
	}
	node := kubelet.New(f.kubelet)
	exporter := prom.New(prom.Options{Version: version(), Processes: f.processes, DCGM: f.dcgm, Pods: node.Pods, Trouble: a.say})
	sockets, err := f.listeners()
	if err != nil {
		return err
	}
	announcer, err := a.announcer()
	if err != nil {
		return err
	}
	defer announcer.close()
	l, ctx, end, err := a.measure(ctx, sampler.Options{Readings: exporter.Reading})
	if err != nil {
		return err
	}
	defer end(nil)
	exporter.Clock(l.now)
	defer a.serve(ctx, a.server(exporter, f.web), sockets, end)()
	a.rereadOnHangup(ctx, f.web)
	trouble := prom.NewSeldom(a.say)
	go node.Run(ctx, func(err error) { trouble.Say(err.Error()) })
	alerts := watch.New(watch.Options{Need: a.opt.need.Opt, Lang: string(a.opt.lang), Levels: a.levels()})
	for {
		snaps, err := l.Next(ctx)
		if err != nil {
			return cmp.Or(context.Cause(ctx), err)
		}
		for _, one := range snaps {
			snap := withAlerts(one, alerts)
			announcer.take(snap.Alerts, snap.Ahead())
			exporter.Observe(snap)
		}
	}
}

// exportFresh is how old the newest snapshot of a healthy exporter is at most.
const exportFresh = 15 * time.Second

// healthPath is asked by who looks after services, which knows no password.
const healthPath = "/-/healthy"

func routes(exporter *prom.Exporter) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", exporter)
	mux.HandleFunc("GET "+healthPath, func(w http.ResponseWriter, _ *http.Request) {
		if err := exporter.Health(exportFresh); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "nvpeak reads the GPUs\n") //nolint:errcheck // whoever asked has gone
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<!doctype html><title>nvpeak</title><h1>nvpeak</h1><p><a href=\"/metrics\">Metrics</a></p>\n") //nolint:errcheck // as above
	})
	return mux
}
