package prom

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"
)

// What the parser says of a file, in the words of the file: it names types of Go, and shows values, which may be secrets.
var (
	yamlPlace    = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)
	unknownKey   = regexp.MustCompile(`^field (.*) not found in type prom\.(\w+)$`)
	twiceKey     = regexp.MustCompile(`^(?:field (.*) already set in type |key (.*) already set in map)`)
	anotherValue = regexp.MustCompile(`(?s)^cannot unmarshal !!(\w+).* into (\S+)$`)
)

// sections are the parts of the file by their types.
var sections = map[string]struct {
	name string
	of   reflect.Type
}{
	"WebConfig":   {"", reflect.TypeFor[WebConfig]()},
	"tlsSection":  {"tls_server_config: ", reflect.TypeFor[tlsSection]()},
	"httpSection": {"http_server_config: ", reflect.TypeFor[httpSection]()},
}

// plainly is what is wrong with the text of a file that the parser cannot take.
func plainly(text []byte, err error) error {
	first := err.Error()
	if list := (*yaml.TypeError)(nil); errors.As(err, &list) && len(list.Errors) > 0 {
		first = list.Errors[0]
	}
	at, number := "", 0
	if m := yamlPlace.FindStringSubmatch(first); m != nil {
		at, first = "line "+m[1]+": ", m[2]
		number, _ = strconv.Atoi(m[1]) //nolint:errcheck // they are digits
	}
	if m := unknownKey.FindStringSubmatch(first); m != nil {
		s := sections[m[2]]
		return fmt.Errorf("%s%snvpeak knows no %.60q; take it away or write one of %s", at, s.name, m[1], strings.Join(keysOf(s.of), ", "))
	}
	if m := twiceKey.FindStringSubmatch(first); m != nil {
		return fmt.Errorf("%s%s stands there twice; leave one", at, strings.Trim(m[1]+m[2], `"`))
	}
	if m := anotherValue.FindStringSubmatch(first); m != nil {
		return fmt.Errorf("%s%s stands where %s belongs", at, kindOf(m[1]), wanted(m[2]))
	}
	if tab := tabbed(text); tab > 0 {
		return fmt.Errorf("line %d: a tab; indent with blanks", tab)
	}
	if number == 0 {
		at = "line 1: "
	}
	return fmt.Errorf("%sit is no YAML (%s); a section looks like tls_server_config: { cert_file: box.crt, key_file: box.key }", at, strings.TrimPrefix(first, "yaml: "))
}

// keysOf are the keys of a section.
func keysOf(t reflect.Type) (list []string) {
	for i := range t.NumField() {
		list = append(list, t.Field(i).Tag.Get("yaml"))
	}
	return list
}

func kindOf(tag string) string {
	switch tag {
	case "seq":
		return "a list"
	case "map":
		return "a group of keys"
	}
	return "a value"
}

func wanted(kind string) string {
	switch kind {
	case "string":
		return "a text"
	case "bool":
		return "true or false"
	case "map[string]string":
		return "a group such as { name: text }"
	}
	return "a group such as { key: value }"
}

// tabbed is the first line that is indented with a tab; 0: there is none.
func tabbed(text []byte) int {
	for i, line := range bytes.Split(text, []byte("\n")) {
		if indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]; bytes.ContainsRune(indent, '\t') {
			return i + 1
		}
	}
	return 0
}

// lineOf is "line 3: " of the line that a key stands in; empty where it cannot be told.
func lineOf(text []byte, key string) string {
	found := regexp.MustCompile(`(?m)^[^#\n]*?(?:^|[\s{,"'])(` + regexp.QuoteMeta(key) + `)["']?\s*:`).FindSubmatchIndex(text)
	if found == nil {
		return ""
	}
	return fmt.Sprintf("line %d: ", 1+bytes.Count(text[:found[2]], []byte("\n")))
}
