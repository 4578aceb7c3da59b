//go:build race

package crash

// goExitsWithout says that Go ends a program without exit() of C. The race detector calls it, and what runs then is none of a library.
const goExitsWithout = false
