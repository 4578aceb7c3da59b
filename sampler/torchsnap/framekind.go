package torchsnap

import (
	"regexp"
	"strings"
)

// frameKind is what file and function say of a frame.
type frameKind struct {
	python     bool // no C++
	own        bool // outside of torch, of installed packages and of Python itself
	validation bool
	optimizer  bool
	module     bool // a module of torch runs
}

var (
	// libraryFile is a file that whoever trains has not written.
	libraryFile = regexp.MustCompile(`(?i)/(?:site|dist)-packages/|/lib(?:64)?/python\d|/python\d+(?:\.\d+)?/lib/|^<frozen |^<string>|^<eval_with_key>|/torchinductor|` +
		`(?:^|/)torch/(?:_[a-z]|nn/|optim/|autograd/|utils/|cuda/|amp/|distributed/|fx/|jit/|backends/|functional\.py|storage\.py|serialization\.py)`)
	// validationName is a function that validates.
	validationName = regexp.MustCompile(`(?i)^_*(?:run_|do_|on_)?(?:eval|evaluate|evaluation|evaluating|validate|validation|validating|valid|val|test|testing)(?:_(?:step|epoch|loop|batch|model|one_epoch|set|dataset|fn|func|all|run|pass|phase|metrics))*_*$|validation_|evaluate|validate`)
	// optimizerFile is a module of optimizers, optimizerOwn one that somebody wrote.
	optimizerFile = regexp.MustCompile(`(?i)(?:^|/)(?:optim|optimizers?)/`)
	optimizerOwn  = regexp.MustCompile(`(?i)/(?:optim|optimizers?|adamw?|lion|adafactor|sgd)\.py$`)
)

// Patterns are the rules for frames as regular expressions, which Python reads as well: the reporter inside a process
// goes by them, too.
func Patterns() map[string]string {
	return map[string]string{"library": libraryFile.String(), "validation": validationName.String(),
		"optimizer": optimizerFile.String(), "optimizer_own": optimizerOwn.String()}
}

func kindOfFrame(file, name string) frameKind {
	file = strings.ReplaceAll(file, `\`, "/")
	k := frameKind{python: strings.HasSuffix(file, ".py") || strings.HasPrefix(file, "<") || strings.Contains(file, "ipykernel")}
	k.own = k.python && !libraryFile.MatchString(file)
	k.validation = k.own && validationName.MatchString(name)
	k.optimizer = k.python && (!k.own && optimizerFile.MatchString(file) || optimizerOwn.MatchString(file))
	k.module = !k.own && strings.Contains(file, "torch/nn/modules/")
	return k
}
