// Package needed reads from a regular expression which words a text must have to be matched by it. Most patterns that are
// tried on a text cannot match it, for it lacks such a word, and looking for words is much cheaper than matching.
package needed
