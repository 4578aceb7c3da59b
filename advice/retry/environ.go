package retry

import (
	"slices"
	"strings"
)

// Get is the value of a variable in an environment: the last of a name counts, as for os/exec.
func Get(env []string, name string) (value string, set bool) {
	for _, entry := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(entry, name+"="); ok {
			return v, true
		}
	}
	return "", false
}

// With is an environment in which a variable has another value.
func With(env []string, name, value string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(entry string) bool { return strings.HasPrefix(entry, name+"=") })
	return append(env, name+"="+value)
}

// option is the value of an option of an allocator.
func option(options, name string) (value string, set bool) {
	for o := range strings.SplitSeq(options, ",") {
		key, v, _ := strings.Cut(strings.TrimSpace(o), ":")
		if strings.TrimSpace(key) == name {
			value, set = strings.TrimSpace(v), true
		}
	}
	return value, set
}

// merged are the options with one more, less those that cannot stand beside it.
func merged(options, add string, without ...string) string {
	var kept []string
	for o := range strings.SplitSeq(options, ",") {
		key, _, _ := strings.Cut(strings.TrimSpace(o), ":")
		if o = strings.TrimSpace(o); o != "" && !slices.Contains(without, strings.TrimSpace(key)) {
			kept = append(kept, o)
		}
	}
	return strings.Join(append(kept, add), ",")
}
