// Package hearsay says what a passage of a post tells of a failure: that it came late, that memory was seen to grow, that another process holds
// the GPU. People say such things in endless ways, so that it is learned from passages with what each tells (testdata/tellings), and no list of words.
//
//	passage ─► features.go: words, pairs of words, notions ─► model.go: a weight of each feature for each telling ─► how sure
//	testdata/tellings ─► docs/tellings: the weights ─► weights.bin
//
// A telling is a logistic regression over the features. On passages that were not learned from it finds two of three, and of what it says
// one in ten is wrong (TestHeldOut); of a writer whom nobody had read it found half (docs/measurements.md).
package hearsay
