package tools

import "slices"

var rows = slices.Concat(vision, language, making, science, more, wide, native)
