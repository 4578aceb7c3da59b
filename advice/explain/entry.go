package explain

import (
	"slices"
	"strings"

	"nvpeak/sampler"
	"nvpeak/sampler/tools"
)

// asPage: a page in a browser runs the known program, which is a script beside the one that has its options. Whoever names that one, or
// a command of it, has it.
func (f *failure) asPage() bool {
	if f.tool.App || !f.shows(sampler.ShowsApp) {
		return false
	}
	scripts := f.context.Scripts
	if f.command.Known {
		scripts = f.command.Scripts()
	}
	return !slices.ContainsFunc(scripts, func(name string) bool { return !isPage(name) }) && (len(scripts) > 0 || !f.command.Known)
}

// isPage: a script is named after the page in a browser that it makes.
func isPage(script string) bool {
	return slices.ContainsFunc([]string{"gradio", "app.py", "web_demo", "webui"}, func(part string) bool { return strings.Contains(script, part) })
}

// sharesGGML: the library of llama.cpp failed in a known program that has no context of tokens, as one that hears speech or makes pictures. It shares
// that library and none of the options.
func (f *job) sharesGGML() bool {
	return f.tool != nil && f.tool.Does == tools.Runs && f.event.Framework == "llama.cpp" && (f.context.Server == "" || f.context.Server == "whisper") &&
		!slices.ContainsFunc(f.tool.Levers, func(l tools.Lever) bool { return l.Of == tools.Context })
}

// typesKnown: the command is that of a known program with scripts of its own.
func (f *job) typesKnown() bool {
	return f.tool != nil && !f.tool.Library && f.command.Known && tools.In(tools.WithoutEnvironments(f.command.Text)) == f.tool
}
