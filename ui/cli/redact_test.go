package cli

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/tape"
	"nvpeak/ui/notify"
)

const (
	leakToken    = "s3cr3tA9x"
	leakyCommand = "python train.py --hf-token " + leakToken + " --batch-size 64"
)

// leaky is a snapshot of a job with a secret in its command line.
func leaky() *sampler.Snapshot {
	g := card("GPU-0", 79*sampler.GiB)
	g.Name = "NVIDIA H100 80GB HBM3"
	g.Processes = []sampler.Process{{PID: 7, User: "ann", Name: "python", Command: leakyCommand, Type: "compute", Visible: true,
		Environment: map[string]string{"HF_TOKEN": leakToken}, Memory: sampler.Some(79 * sampler.GiB)}}
	return &sampler.Snapshot{Type: "snapshot", Schema: 1, Time: time.Unix(1700000000, 0), GPUs: []sampler.GPU{g}}
}

// In a pipe a snapshot has no secret in any form of output, unless asked for.
func TestOnceKeepsSecrets(t *testing.T) {
	for name, f := range map[string]onceFlags{"table": {}, "json": {json: true}, "frame": {size: frameSize{160, 40}}} {
		for _, keep := range []bool{false, true} {
			var out bytes.Buffer
			f.keep = keep
			a := &app{out: &out, env: func(string) string { return "" }}
			if err := a.printOnce([]*sampler.Snapshot{leaky()}, "", &f); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(out.String(), leakToken) != keep {
				t.Errorf("%s, --no-redact=%v:\n%s", name, keep, out.String())
			}
		}
	}
}

// A report and an explanation quote logs and commands, and may be passed on.
func TestReportKeepsSecrets(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "run.jsonl")
	w, err := tape.Create(file, tape.Options{NoRedact: true})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 30 {
		s := leaky()
		s.Time = s.Time.Add(time.Duration(i) * time.Second)
		w.Snapshot(s) //nolint:errcheck // Close tells
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	log := filepath.Join(dir, "train.log")
	text := "+ " + leakyCommand + "\nINFO login(token=\"" + leakToken + "\")\n" + strings.Replace(wall, "GPU 1", "GPU 0", 1) + "wandb login --key " + leakToken + "0000000000\n"
	if err := os.WriteFile(log, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"report", file}, {"report", "--json", file}, {"report", "--html", "-", file}, {"report", "--json", "--log", log, file}, {"report", "--log", log, file},
		{"report", "--html", "-", "--log", log, file}, {"report", "--json", "--compare", file, file},
		{"explain", log}, {"explain", "--details", log}, {"explain", "--json", log}, {"explain", "--json", "--recording", file, log},
		{"explain", "--json", "--command", "python train.py --hf-\x1b[0mtoken " + leakToken, log},
		{"explain", "--json", "--command", leakyCommand, "--env", "HF_TOKEN=" + leakToken, log},
	} {
		out, errs, code := command(t, args...)
		if code != 0 || out == "" {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
		if strings.Contains(out+errs, leakToken) {
			t.Errorf("%v shows a secret", args)
		}
	}
}

// Advice that changes a command puts nothing between a name and its secret.
func TestChangedCommandKeepsSecrets(t *testing.T) {
	log := filepath.Join(t.TempDir(), "train.log")
	if err := os.WriteFile(log, []byte(strings.NewReplacer("74.00", "70.00", "3.10 GiB is res", "7.00 GiB is res").Replace(wall)), 0o600); err != nil {
		t.Fatal(err)
	}
	out, errs, code := command(t, "explain", "--json", "--command", "> X-Vault-Token: "+leakToken, log)
	if code != 0 || !strings.Contains(out, "X-Vault-Token") || strings.Contains(out+errs, leakToken) {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
}

// A message about a file whose name sounds like a secret is whole.
func TestErrorsAreWhole(t *testing.T) {
	name := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(name, []byte("root:x:0:0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := command(t, "report", name); code != 1 || errs != "nvpeak: "+name+": neither a recording nor a log of nvidia-smi or gpustat\n" {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// No error repeats what stands in the address of a webhook.
func TestErrorsKeepSecrets(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	address := strings.Replace(srv.URL, "//", "//ann:"+leakToken+"@", 1) + "/services/T0/B0/" + leakToken
	srv.Close()
	post, err := notify.Webhook(address, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := post.Send(t.Context(), []byte("{}")); err == nil || strings.Contains(err.Error(), leakToken) {
		t.Errorf("the error is %v", err)
	}
	if _, err := notify.Webhook("htp:/ann:"+leakToken+"@x", true); err == nil || strings.Contains(err.Error(), leakToken) {
		t.Errorf("the error is %v", err)
	}
	var errs bytes.Buffer
	exitCode(fmt.Errorf("cannot post to %s", address), &errs)
	if strings.Contains(errs.String(), "ann:"+leakToken) {
		t.Errorf("standard error has %s", errs.String())
	}
}
