package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"nvpeak/advice/lang"
	"nvpeak/sampler"
	"nvpeak/sampler/demo"
	"nvpeak/ui"
	"nvpeak/ui/notify"
	"nvpeak/ui/plain"
)

// The kinds of flag values. Their errors name what is accepted.

type size struct{ sampler.Opt[sampler.Bytes] }

func (s *size) String() string {
	if b, ok := s.Value(); ok {
		return b.String()
	}
	return ""
}

func (s *size) Set(text string) error {
	b, err := sampler.ParseNeed(text)
	if err == nil {
		s.Opt = sampler.Some(b)
	}
	return err
}

func (s *size) Type() string { return "SIZE" }

type durationFlag struct {
	d        *time.Duration
	min, max time.Duration
}

func (f durationFlag) String() string {
	if f.d == nil || *f.d == 0 { // no default
		return ""
	}
	return f.d.String()
}

func (f durationFlag) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d < f.min || d > f.max {
		return fmt.Errorf("%q is not a duration from %v to %v, such as 20ms, 1s or 2m", text, f.min, f.max)
	}
	*f.d = d
	return nil
}

func (f durationFlag) Type() string { return "DURATION" }

type listFlag []string

func (l *listFlag) String() string { return strings.Join(*l, ",") }
func (l *listFlag) Type() string   { return "LIST" }
func (l *listFlag) Set(text string) error {
	list := slices.Clone(*l)
	for _, s := range strings.Split(text, ",") {
		if s = strings.TrimSpace(s); s == "" {
			return fmt.Errorf("an empty GPU in %q: a list of indices, UUIDs or PCI bus ids, such as 0,2", text)
		}
		list = append(list, s)
	}
	*l = list
	return nil
}

type textFlag string

func (t *textFlag) String() string        { return string(*t) }
func (t *textFlag) Type() string          { return "TEXT" }
func (t *textFlag) Set(text string) error { *t = textFlag(text); return nil }

type boolFlag bool

func (b *boolFlag) String() string   { return strconv.FormatBool(bool(*b)) }
func (b *boolFlag) Type() string     { return "bool" }
func (b *boolFlag) IsBoolFlag() bool { return true }
func (b *boolFlag) Set(text string) error {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return fmt.Errorf("%q is neither true nor false", text)
	}
	*b = boolFlag(v)
	return nil
}

type demoFlag string

func (d *demoFlag) String() string { return string(*d) }
func (d *demoFlag) Type() string   { return "SCENARIO" }
func (d *demoFlag) Set(text string) error {
	if text != "list" && !slices.Contains(scenarioNames(), text) {
		return noSuch("scenario", text, append(slices.Clone(scenarioNames()), "list"))
	}
	*d = demoFlag(text)
	return nil
}

var scenarioNames = sync.OnceValue(func() (names []string) {
	for _, s := range slices.Concat(demo.Scenarios(), demo.Fleets()) {
		names = append(names, s.Name)
	}
	return names
})

type themeFlag string

func (t *themeFlag) String() string { return string(*t) }
func (t *themeFlag) Type() string   { return "NAME" }
func (t *themeFlag) Set(text string) error {
	*t = themeFlag(text) // readTheme looks for it: it may be one of the user's own
	return nil
}

// levelsFlag is three levels of memory in percent.
type levelsFlag [3]float64

func (l *levelsFlag) String() string { return ui.LevelsText(*l) }
func (l *levelsFlag) Type() string   { return "LEVELS" }
func (l *levelsFlag) Set(text string) error {
	levels, err := ui.ParseLevels(text)
	if err == nil {
		*l = levels
	}
	return err
}

// columnsFlag are the columns of the process table.
type columnsFlag []string

func (c *columnsFlag) String() string { return strings.Join(*c, ",") }
func (c *columnsFlag) Type() string   { return "LIST" }
func (c *columnsFlag) Set(text string) error {
	list, err := ui.ParseColumns(text)
	if err != nil {
		if no := new(ui.NoColumnError); errors.As(err, &no) {
			return noSuch("column", no.Name, ui.ColumnNames())
		}
		return err
	}
	*c = list
	return nil
}

// sortFlag is the column that the process table is sorted by.
type sortFlag string

func (s *sortFlag) String() string { return string(*s) }
func (s *sortFlag) Type() string   { return "COLUMN" }
func (s *sortFlag) Set(text string) error {
	if name := strings.TrimPrefix(text, "-"); !slices.Contains(ui.SortNames(), name) {
		return noSuch("column to sort by", name, ui.SortNames())
	}
	*s = sortFlag(text)
	return nil
}

// spanFlag is the time that plots show.
type spanFlag string

func (s *spanFlag) String() string { return string(*s) }
func (s *spanFlag) Type() string   { return "TIME" }
func (s *spanFlag) Set(text string) error {
	if !slices.Contains(ui.SpanNames(), text) {
		return fmt.Errorf("%q is none of %s", text, strings.Join(ui.SpanNames(), ", "))
	}
	*s = spanFlag(text)
	return nil
}

// plotFlag is how plots are drawn.
type plotFlag string

const (
	plotArea plotFlag = "area"
	plotLine plotFlag = "line"
)

func (p *plotFlag) String() string { return string(*p) }
func (p *plotFlag) Type() string   { return "FORM" }
func (p *plotFlag) Set(text string) error {
	if f := plotFlag(text); f != plotArea && f != plotLine {
		return fmt.Errorf("%q is neither area nor line", text)
	}
	*p = plotFlag(text)
	return nil
}

// langFlag is a language that nvpeak speaks.
type langFlag string

func (l *langFlag) String() string { return string(*l) }
func (l *langFlag) Type() string   { return "LANG" }
func (l *langFlag) Set(text string) error {
	c, ok := lang.Named(text)
	if !ok {
		return noSuch("language", text, lang.Names())
	}
	*l = langFlag(c.Lang)
	return nil
}

// langOf is the language of the locale, as far as nvpeak speaks it.
func langOf(env func(string) string) langFlag {
	for _, name := range []string{"LC_ALL", "LC_MESSAGES", "LANG"} {
		if v := env(name); v != "" {
			return langFlag(lang.For(v).Lang)
		}
	}
	return langFlag(lang.English().Lang)
}

// notifyFlag is a list of bell and desktop.
type notifyFlag notify.Terminal

func (n *notifyFlag) String() string { return notify.Terminal(*n).String() }
func (n *notifyFlag) Type() string   { return "HOW" }
func (n *notifyFlag) Set(text string) error {
	t, err := notify.ParseTerminal(text)
	if err != nil || text == "" {
		return cmp.Or(err, errors.New("it is neither bell nor desktop"))
	}
	*n = notifyFlag{n.Bell || t.Bell, n.Desktop || t.Desktop}
	return nil
}

// webhookFlag is an address that can be posted to; whether it may be is known with --webhook-private alone.
type webhookFlag string

func (w *webhookFlag) String() string { return string(*w) }
func (w *webhookFlag) Type() string   { return "URL" }
func (w *webhookFlag) Set(text string) error {
	if err := notify.Valid(text); err != nil {
		return err
	}
	*w = webhookFlag(text)
	return nil
}

// frameSize is COLSxROWS.
type frameSize struct{ w, h int }

func (f *frameSize) String() string {
	if f.w == 0 {
		return ""
	}
	return fmt.Sprintf("%dx%d", f.w, f.h)
}

func (f *frameSize) Type() string { return "COLSxROWS" }
func (f *frameSize) Set(text string) error {
	w, h, ok := strings.Cut(text, "x")
	cols, err1 := strconv.Atoi(w)
	rows, err2 := strconv.Atoi(h)
	if !ok || err1 != nil || err2 != nil || cols < 1 || rows < 1 || cols > 1000 || rows > 1000 {
		return fmt.Errorf("%q is not a size such as 80x24 (1 to 1000 columns and rows)", text)
	}
	f.w, f.h = cols, rows
	return nil
}

// csvFlag is --csv or --csv=FIELDS.
type csvFlag struct{ fields []plain.Field }

func (c *csvFlag) String() string { return "" }
func (c *csvFlag) Type() string   { return "FIELDS" }
func (c *csvFlag) Set(text string) (err error) {
	names := plain.DefaultFields
	if text != "default" {
		names = strings.Split(text, ",")
	}
	if c.fields, err = plain.Fields(names); err == nil {
		return nil
	}
	for _, n := range names {
		n = strings.TrimSpace(n)
		if near := nearest(n, plain.FieldNames()); near != "" && !slices.Contains(plain.FieldNames(), n) {
			return fmt.Errorf("there is no field %q: did you mean %s?", n, near)
		}
	}
	return err
}

func (c *csvFlag) bind(fs *pflag.FlagSet) {
	f := fs.VarPF(c, "csv", "", "as CSV in the form of nvidia-smi; `FIELDS` are its names, by default "+strings.Join(plain.DefaultFields, ", "))
	f.NoOptDefVal = "default"
}
