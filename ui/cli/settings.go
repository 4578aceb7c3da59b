package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"

	"github.com/spf13/pflag"

	"nvpeak/theme"
	"nvpeak/ui"
	"nvpeak/ui/config"
)

// The origins of a value. A flag wins over the environment, that over the file.
const (
	fromFlag    = "flag"
	fromEnv     = "environment"
	fromFile    = "file"
	fromDefault = "default"
)

// origin is where the value of an option comes from: the variable, or the line of the file.
type origin struct {
	how  string
	name string
	line int
}

// String is the place as messages name it.
func (o origin) String() string {
	if o.how == fromFile {
		return fmt.Sprintf("%s, line %d", o.name, o.line)
	}
	return o.name
}

// settings are what the options were read from.
type settings struct {
	file    string // the settings file, whether it is there or not; empty: there is no place for it
	found   bool
	entries []config.Entry
	origins map[string]origin // by option
	notes   []string          // what is wrong in variables that stop nothing, and in the file in the order of its lines
	lines   []int             // those of notes; 0: of a variable
	mild    bool              // a wrong variable stops nothing either
}

func (s *settings) note(line int, format string, args ...any) {
	s.noteAt(line, origin{fromFile, s.file, line}.String()+": "+fmt.Errorf(format, args...).Error())
}

func (s *settings) noteAt(line int, text string) {
	i := sort.SearchInts(s.lines, line+1)
	s.lines = slices.Insert(s.lines, i, line)
	s.notes = slices.Insert(s.notes, i, text)
}

// wrong is what becomes of a wrong value of a variable: an error, or a note.
func (s *settings) wrong(variable string, err error) error {
	if !s.mild {
		return usagef("%s: %w", variable, err)
	}
	s.noteAt(0, fmt.Sprintf("%s: %v", variable, err))
	return nil
}

// read takes what no flag of a command has set from the environment, and what neither has from the file. Mistakes in the
// file are said, each in a line, and the defaults stand in their place.
func (a *app) read(flags *pflag.FlagSet) error {
	s, err := a.opt.read(flags, a.env, a.runs)
	if err == nil {
		err = a.opt.readTheme(s)
	}
	for _, note := range s.notes {
		a.say(note)
	}
	a.set = s
	a.drawPlainly(s)
	return err
}

// read of a command that runs another is mild: what is written down somewhere for every nvpeak does not stop that.
func (o *options) read(flags *pflag.FlagSet, env func(string) string, mild bool) (*settings, error) {
	s := &settings{origins: map[string]origin{}, mild: mild}
	if o.lang == "" {
		o.lang = langOf(env)
	}
	if flags.Lookup("config") == nil {
		return s, nil // it takes no options
	}
	table := o.table()
	if err := s.open(o.config, env, table); err != nil {
		return s, err
	}
	for _, row := range table {
		f := flags.Lookup(row.flag)
		if f == nil {
			continue
		}
		from, err := s.take(row, f.Changed, env)
		if err != nil {
			return s, err
		}
		s.origins[row.flag] = from
		if row.flag == "no-color" && !f.Changed && env("NO_COLOR") != "" {
			o.noColor, s.origins[row.flag] = true, origin{how: fromEnv, name: "NO_COLOR"}
		}
	}
	return s, nil
}

// open reads the settings file. None at its usual place is no mistake.
func (s *settings) open(named string, env func(string) string, table []option) error {
	missing := func(err error) error { return usagef("--config: %w", err) }
	if named == "" {
		named = env("NVPEAK_CONFIG")
		missing = func(err error) error { return s.wrong("NVPEAK_CONFIG", err) }
	}
	if s.file = named; named == "" {
		s.file = config.File(env)
	}
	if s.file == "" {
		return nil
	}
	list, err := config.Read(s.file)
	switch {
	case err == nil:
		s.entries, s.found = list, true
	case errors.Is(err, fs.ErrNotExist) && named == "":
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, config.ErrNoFile) && named != "":
		return missing(err)
	default:
		s.found = true
		s.noteAt(1, err.Error()+": the defaults are used")
	}
	for _, e := range s.entries {
		if slices.ContainsFunc(table, func(row option) bool { return row.flag == e.Key && row.flag != "config" }) {
			continue
		}
		var names []string
		for _, row := range table {
			if row.flag != "config" {
				names = append(names, row.flag)
			}
		}
		if near := nearest(e.Key, names); near != "" {
			s.note(e.Line, "there is no setting %s: did you mean %s?", e.Key, near)
		} else {
			s.note(e.Line, "there is no setting %s: nvpeak config lists them", e.Key)
		}
	}
	return nil
}

// take sets an option that no flag has set.
func (s *settings) take(row option, flagged bool, env func(string) string) (origin, error) {
	if flagged {
		return origin{how: fromFlag, name: "--" + row.flag}, nil
	}
	if v := env(row.env); v != "" {
		err := row.value.Set(v)
		if err == nil {
			return origin{how: fromEnv, name: row.env}, nil
		}
		if err := s.wrong(row.env, err); err != nil {
			return origin{}, err
		}
	}
	for _, e := range s.entries {
		if e.Key != row.flag || row.flag == "config" {
			continue
		}
		set, err := row.setFrom(e)
		if err != nil && row.flag == "readonly" { // who writes it does not want the opposite
			s.note(e.Line, "%s: %w; it is taken for true", e.Key, err)
			return origin{fromFile, s.file, e.Line}, row.value.Set("true")
		}
		if err != nil {
			s.note(e.Line, "%s: %w", e.Key, err)
			break
		}
		if set {
			return origin{fromFile, s.file, e.Line}, nil
		}
	}
	return origin{how: fromDefault}, nil
}

// unusable is what becomes of an option whose value cannot be used as things are. Typed, it is the error; what is written down
// for every nvpeak, in a variable or in the file, is said in a line that names the place, and reset puts the default there.
func (a *app) unusable(name string, err error, reset func()) error {
	var from origin
	if a.set != nil {
		from = a.set.origins[name]
	}
	if from.how != fromEnv && from.how != fromFile {
		return err
	}
	a.warn(from.String() + ": " + err.Error())
	reset()
	a.set.origins[name] = origin{how: fromDefault}
	return nil
}

// setFrom sets an option to a value of the file.
func (row *option) setFrom(e config.Entry) (set bool, err error) {
	kind := row.value.Type()
	switch {
	case kind == "bool" && e.Kind != config.Bool:
		return false, fmt.Errorf("it takes true or false, not %s", e.Kind)
	case (kind == "TEXT" || row.flag == "theme") && e.Kind != config.Text:
		return false, fmt.Errorf("it takes a text, not %s", e.Kind)
	case kind != "bool" && e.Kind == config.Bool && row.optional != "": // demo = true
		if e.Text == "false" {
			return false, nil
		}
		return true, row.value.Set(row.optional)
	}
	return true, row.value.Set(e.Text)
}

// saver writes settings into the file that they are read from; nil: there is no place for one.
func (a *app) saver() ui.SaveSettings {
	if a.set == nil || a.set.file == "" {
		return nil
	}
	return func(list []ui.Setting) (string, error) {
		var values []config.Value
		for _, s := range list {
			values = append(values, config.Value{Key: s.Name, Text: s.Value, Kind: config.Text})
		}
		return a.set.file, config.Save(a.set.file, values)
	}
}

// readTheme looks for a theme that is not built in beside the settings file.
func (o *options) readTheme(s *settings) error {
	name := string(o.theme)
	if _, ok := theme.Named(name); ok || name == "" {
		return nil
	}
	t, notes, err := config.Theme(config.ThemeFile(s.file, name), name)
	if err == nil {
		theme.Add(t)
		s.notes = append(s.notes, notes...)
		return nil
	}
	absent := errors.Is(err, fs.ErrNotExist)
	if absent {
		err = noSuch("theme", name, slices.Compact(append(theme.Names(), config.ThemeNames(s.file)...)))
	}
	switch from := s.origins["theme"]; from.how {
	case fromFile:
		if absent {
			s.note(from.line, "theme: %w", err)
		} else { // it says in which file and where
			s.notes = append(s.notes, err.Error()+": the usual theme is used")
		}
		o.theme, s.origins["theme"] = "", origin{how: fromDefault}
		return nil
	default:
		return usagef("%s: %w", from.name, err)
	}
}
