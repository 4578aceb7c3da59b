//go:build !race

package crash

// goExitsWithout says that Go ends a program without exit() of C, which a library has called then.
const goExitsWithout = true
