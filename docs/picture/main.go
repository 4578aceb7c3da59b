// Command picture draws the picture of the README: one screen of the demo as SVG, on
// standard output. It measures scripted GPUs at a fixed time through the real loop and
// the real screen, so the same program always draws the same picture.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	tea "charm.land/bubbletea/v2"

	"nvpeak/sampler"
	"nvpeak/sampler/demo"
	"nvpeak/ui"
)

func main() {
	scenario := flag.String("demo", demo.Default, "scenario of the demo")
	cols := flag.Int("cols", 110, "columns of the screen")
	rows := flag.Int("rows", 34, "rows of the screen")
	need := flag.String("need", "", "what the next allocation needs, as nvpeak --need")
	past := flag.Duration("past", 10*time.Minute, "how much of the scenario has been seen")
	flag.Parse()
	if err := run(*scenario, *need, *cols, *rows, *past); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(scenario, need string, cols, rows int, past time.Duration) error {
	opt := ui.Options{Theme: "dark", Label: "DEMO " + scenario}
	if need != "" {
		b, err := sampler.ParseBytes(need)
		if err != nil {
			return err
		}
		opt.Need = sampler.Some(b)
	}
	time.Local = time.UTC // the header shows the time
	screen, err := play(scenario, cols, rows, past, opt)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	if err := writeSVG(out, parse(screen, cols, rows), "nvpeak "+opt.Label); err != nil {
		return err
	}
	return out.Flush()
}

// play is the colored screen after the past of a scenario.
func play(scenario string, cols, rows int, past time.Duration, opt ui.Options) (string, error) {
	clock := sampler.NewScriptClock(time.Date(2026, 11, 20, 14, 3, 0, 0, time.UTC))
	src, err := demo.New(scenario, clock)
	if err != nil {
		return "", err
	}
	ctx := context.Background()
	loop := sampler.NewLoop(src, sampler.Options{Clock: clock, Host: src.Host()})
	if err := loop.Connect(ctx); err != nil {
		return "", err
	}
	loop.Simulate(clock, past)
	model := ui.New(ctx, loop, opt)
	model.Update(tea.WindowSizeMsg{Width: cols, Height: rows})
	model.Update(model.Init()()) // the theme is fixed: Init only waits for the snapshots
	return model.View().Content, nil
}
