// Package nvmltest gives tests a driver that does as it is told: it builds the fake
// libnvidia-ml.so.1 of testdata/fakenvml and hands it scenario files.
//
//	lib := nvmltest.Library(t, nvmltest.Current)
//	file := nvmltest.Scenario(t, "gpu 0\nmem 0 used=10GiB\n")
//	cmd.Env = append(os.Environ(), nvmltest.Env(lib, file)...)
//
// The fake reads its environment once and plays one scenario for the life of a process,
// as a driver is one for a machine. A test that needs a scenario of its own runs the
// program under test as a child, or itself by [Child].
//
// Only tests import this package; a C compiler (gcc) is needed to run them.
package nvmltest
