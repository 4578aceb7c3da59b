package ui

import (
	"math"
	"strconv"
	"strings"
	"time"

	"nvpeak/sampler"
	"nvpeak/ui/plain"
)

// notAvailable stands for every value that is not known.
const notAvailable = "N/A"

// gib is an amount in GiB for places where the unit is said elsewhere: "9.4", "61.2", "141".
func gib(b sampler.Bytes) string { return figure(b.GiB()) }

// figure is a number in at most four columns.
func figure(f float64) string {
	if f < 99.95 {
		return strconv.FormatFloat(f, 'f', 1, 64)
	}
	return strconv.FormatFloat(f, 'f', 0, 64)
}

// beside is an amount in front of a total: in GiB as most are, or in the unit of the total, or with its own.
func beside(b, total sampler.Bytes) string {
	whole := total.Short()
	if strings.HasSuffix(whole, "G") {
		return gib(b)
	}
	return strings.TrimSuffix(b.Short(), whole[len(whole)-1:])
}

// gibOr is gib of a known amount, "N/A" of an unknown one.
func gibOr(o sampler.Opt[sampler.Bytes]) string {
	if b, ok := o.Value(); ok {
		return gib(b)
	}
	return notAvailable
}

// freeOr is known free memory, "N/A" where it is unknown.
func freeOr(o sampler.Opt[sampler.Bytes]) string {
	if b, ok := o.Value(); ok {
		return b.Few()
	}
	return notAvailable
}

func percentOr(o sampler.Opt[int]) string {
	if p, ok := o.Value(); ok {
		return strconv.Itoa(p) + "%"
	}
	return notAvailable
}

// since is a stretch of time in at most four columns: "now", "12s", "23m", "3.2h", "4d".
func since(d time.Duration) string {
	switch {
	case d < time.Second:
		return "now"
	case d < 10*time.Second:
		return strconv.Itoa(int(d.Seconds())) + "s"
	case d < 100*time.Second: // in steps of 5, to be calm
		return strconv.Itoa(int(d.Seconds())/5*5) + "s"
	case d < 100*time.Minute:
		return strconv.Itoa(int(d.Minutes())) + "m"
	case d < 10*time.Hour:
		return strconv.FormatFloat(d.Hours(), 'f', 1, 64) + "h"
	case d < 100*time.Hour:
		return strconv.Itoa(int(d.Hours())) + "h"
	}
	return strconv.Itoa(min(int(d.Hours()/24), 9999)) + "d"
}

// ago is since with its word: "2m ago", "now".
func (v *view) ago(d time.Duration) string {
	if d < time.Second {
		return v.words.Say("screen.now")
	}
	return v.words.Say("screen.ago", "span", since(d))
}

// span is a stretch of time as the axis says it.
func span(d time.Duration) string {
	if d >= time.Hour {
		return strconv.Itoa(int(d.Hours())) + "h"
	}
	return strconv.Itoa(int(d.Minutes())) + "m"
}

var nan = math.NaN()

func pick[T any](cond bool, a, b T) T {
	if cond {
		return a
	}
	return b
}

// percent of a total; 0 when the total is 0.
func percent(part, total sampler.Bytes) float64 {
	if total == 0 {
		return 0
	}
	return 100 * float64(part) / float64(total)
}

// fixed is text in exactly w columns, cut or padded.
func fixed(text string, w int) string {
	var b strings.Builder
	left := w
	for _, r := range text {
		r, n := harmless(r)
		if n > left {
			break
		}
		b.WriteRune(r)
		left -= n
	}
	return b.String() + strings.Repeat(" ", left)
}

// chop cuts a command or code into pieces of at most w columns, behind a blank where there is one; its blanks matter.
func chop(text string, w int) []string {
	var pieces []string
	for text != "" {
		end, blank, columns := len(text), 0, 0
		for i, r := range text {
			_, n := harmless(r)
			if columns += n; i > 0 && columns > w {
				end = pick(blank > 0 && r != ' ', blank, i)
				break
			}
			if r == ' ' {
				blank = i + 1
			}
		}
		pieces, text = append(pieces, text[:end]), text[end:]
	}
	return pieces
}

// wrap breaks text into lines of at most w columns; its blanks and line ends count as one blank.
func wrap(text string, w int) []string {
	if text = strings.Join(strings.Fields(text), " "); text == "" || w < 1 {
		return nil
	}
	return plain.Wrap(text, w, width)
}
