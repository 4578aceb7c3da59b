package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"nvpeak/sampler"
	"nvpeak/sampler/fleet"
	"nvpeak/ui/config"
)

// hostKey is what a table of a hosts.toml may say of a source of some kinds; nil: of all.
type hostKey struct {
	name string
	set  func(s *fleet.Spec, text string) error
	of   []fleet.Kind
}

// hostKeys are all of them. A new one is a row.
var hostKeys = []hostKey{
	{"ssh", func(s *fleet.Spec, text string) error { s.Command = strings.Fields(text); return nil }, []fleet.Kind{fleet.SSH}},
	{"port", func(s *fleet.Spec, text string) (err error) {
		if s.Port, err = strconv.Atoi(text); err != nil || s.Port < 1 || s.Port > 65535 {
			return fmt.Errorf("%q is no port", sampler.Clip(text))
		}
		return nil
	}, []fleet.Kind{fleet.SSH}},
	{"user", func(s *fleet.Spec, text string) error { s.User = text; return nil }, nil},
	{"nvpeak", func(s *fleet.Spec, text string) error {
		if !programName.Get().MatchString(text) {
			return fmt.Errorf("%q is no path of a program: letters, digits and ./_+- may stand there", sampler.Clip(text))
		}
		s.Program = text
		return nil
	}, []fleet.Kind{fleet.SSH}},
	{"match", func(s *fleet.Spec, text string) (err error) { s.Match, err = fleet.Selector(text); return err }, []fleet.Kind{fleet.Prometheus}},
	{"password-file", func(s *fleet.Spec, text string) error { s.PasswordFile = text; return nil }, []fleet.Kind{fleet.Page, fleet.Prometheus}},
	{"bearer-file", func(s *fleet.Spec, text string) error { s.BearerFile = text; return nil }, []fleet.Kind{fleet.Page, fleet.Prometheus}},
	{"ca-file", func(s *fleet.Spec, text string) error { s.CAFile = text; return nil }, []fleet.Kind{fleet.Page, fleet.Prometheus}},
}

// programName is a path that stands in a line for a shell.
var programName = sampler.Pattern{Source: `^[A-Za-z0-9_./+][A-Za-z0-9_./+-]*$`}

const (
	sourcesKey = "sources" // at the top: a list
	sourceKey  = "source"  // of a table: one
)

// hostsOf are the sources of a hosts.toml: those of its list, and one for each table, which is called as the table.
func hostsOf(file string, entries []config.Entry) (list []fleet.Spec, err error) {
	at := func(e config.Entry, err error) error { return fmt.Errorf("%s, line %d: %w", file, e.Line, err) }
	var tables []string
	sources := map[string]config.Entry{}
	for _, e := range entries {
		table, key, inTable := cutLast(e.Key)
		switch {
		case !inTable && e.Key == sourcesKey:
			for _, source := range splitSources(e.Text) {
				specs, err := fleet.Parse(source)
				if err != nil {
					return nil, at(e, err)
				}
				list = append(list, specs...)
			}
		case !inTable:
			return nil, at(e, fmt.Errorf("there is no %s: sources = [\"ssh://box7\", …], and tables [NAME] with source = \"…\"", sampler.Clip(e.Key)))
		case key == sourceKey:
			sources[table] = e
			fallthrough
		default:
			if !slices.Contains(tables, table) {
				tables = append(tables, table)
			}
		}
	}
	for _, table := range tables {
		specs, err := hostTable(table, sources[table], entries, at)
		if err != nil {
			return nil, err
		}
		list = append(list, specs...)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no hosts in it: sources = [\"ssh://box7\"]", file)
	}
	return list, nil
}

func cutLast(key string) (table, last string, ok bool) {
	i := strings.LastIndexByte(key, '.')
	if i < 0 {
		return "", key, false
	}
	return key[:i], key[i+1:], true
}

// hostTable reads one table. Without a source it is a machine of that name, by ssh.
func hostTable(table string, source config.Entry, entries []config.Entry, at func(config.Entry, error) error) ([]fleet.Spec, error) {
	text := source.Text
	if text == "" {
		text = "ssh://" + table
	}
	specs, err := fleet.Parse(text)
	if err != nil {
		for _, e := range entries {
			if of, _, _ := cutLast(e.Key); of == table {
				return nil, at(e, err)
			}
		}
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		of, key, _ := cutLast(e.Key)
		if of != table || key == sourceKey {
			continue
		}
		i := slices.IndexFunc(hostKeys, func(k hostKey) bool { return k.name == key })
		if i < 0 {
			return nil, at(e, noSuch("key", key, keyNames()))
		}
		for n := range specs {
			if of := hostKeys[i].of; of != nil && !slices.Contains(of, specs[n].Kind) {
				return nil, at(e, fmt.Errorf("%s means nothing for %s", key, specs[n].Source()))
			}
			if err := hostKeys[i].set(&specs[n], e.Text); err != nil {
				return nil, at(e, err)
			}
		}
	}
	if len(specs) == 1 && specs[0].Kind != fleet.Prometheus {
		specs[0].Name = table
	}
	return specs, nil
}

func keyNames() (names []string) {
	names = []string{sourceKey}
	for _, k := range hostKeys {
		names = append(names, k.name)
	}
	return names
}
