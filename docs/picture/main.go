// Command picture draws a picture of the README: one screen of the demo as SVG, or the
// animated story, on standard output. It measures scripted GPUs at a fixed time through the
// real loop and the real screen, so the same program always draws the same picture.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"nvpeak/sampler"
	"nvpeak/sampler/demo"
	"nvpeak/ui"
)

// request is what to draw.
type request struct {
	story          bool
	scenario, need string
	cols, rows     int
	past           time.Duration
}

// requestOf reads the command line. docs/picture.sh has those of the README's pictures.
func requestOf(args []string) (r request, err error) {
	flags := flag.NewFlagSet("picture", flag.ContinueOnError)
	flags.BoolVar(&r.story, "story", false, "the animated story; only -cols and -rows count")
	flags.StringVar(&r.scenario, "demo", demo.Default, "scenario of the demo")
	flags.StringVar(&r.need, "need", "", "what the next allocation needs, as nvpeak --need")
	flags.IntVar(&r.cols, "cols", 110, "columns of the screen")
	flags.IntVar(&r.rows, "rows", 34, "rows of the screen")
	flags.DurationVar(&r.past, "past", 10*time.Minute, "how much of the scenario has been seen")
	return r, flags.Parse(args)
}

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run(args []string, to io.Writer) error {
	r, err := requestOf(args)
	if err != nil {
		return err
	}
	time.Local = time.UTC // the header shows the time
	out := bufio.NewWriter(to)
	if err := r.draw(out); err != nil {
		return err
	}
	return out.Flush()
}

func (r request) draw(out io.Writer) error {
	if r.story {
		frames, err := playStory(r.cols, r.rows)
		if err != nil {
			return err
		}
		return writeFilm(out, frames, storyStill, "nvpeak: a spike, the alert before it will not fit, and the advice")
	}
	opt := ui.Options{Theme: "dark", Label: "DEMO " + r.scenario}
	if r.need != "" {
		b, err := sampler.ParseBytes(r.need)
		if err != nil {
			return err
		}
		opt.Need = sampler.Some(b)
	}
	screen, err := play(r.scenario, r.cols, r.rows, r.past, opt)
	if err != nil {
		return err
	}
	return writeSVG(out, parse(screen, r.cols, r.rows), "nvpeak "+opt.Label)
}
