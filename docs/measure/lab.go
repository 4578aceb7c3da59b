//go:build linux

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"nvpeak/sampler/nvml/nvmltest"
)

// options of a measurement.
type options struct {
	nvpeak string
	source string
	before string
	passes int
	span   time.Duration
	only   string
}

// lab is where programs are measured.
type lab struct {
	options
	dir      string // for what is built and written
	driver   string // directory of the fake driver
	nvtop    string // empty: not installed
	scenario string
}

// newLab builds in dir what is missing: the fake driver, and nvpeak where none is named.
func newLab(dir string, o options) (*lab, error) {
	l := &lab{options: o, dir: dir, driver: filepath.Join(dir, "driver")}
	if out, err := exec.Command("sh", "testdata/fakenvml/build.sh", l.driver).CombinedOutput(); err != nil {
		return nil, fmt.Errorf("fake driver: %w\n%s", err, out)
	}
	if l.nvpeak == "" {
		l.nvpeak = filepath.Join(dir, "nvpeak")
		if out, err := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", l.nvpeak, ".").CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	if path, err := exec.LookPath("nvtop"); err == nil {
		l.nvtop = path
	} else {
		fmt.Fprintln(os.Stderr, "measure: nvtop is not installed (Debian: contrib, apt-get install nvtop); nvpeak alone")
	}
	return l, nil
}

// env is the environment of a program; stats is where the fake driver counts its calls.
func (l *lab) env(stats string, begin time.Time) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir, "XDG_CONFIG_HOME=" + l.dir, "TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8"}
	env = append(env, nvmltest.Env(filepath.Join(l.driver, "libnvidia-ml.so.1"), l.scenario)...)
	if stats != "" {
		env = append(env, nvmltest.StatsTo(stats))
	}
	if !begin.IsZero() {
		env = append(env, nvmltest.StartAt(begin))
	}
	return env
}
