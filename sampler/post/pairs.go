package post

import (
	"slices"
	"strconv"

	"nvpeak/sampler"
)

// A matrix of all pairs grows with the square of their number: no batch makes it smaller, only that it is never made whole.

// manyPairs are as many things as have a matrix of all pairs that fills gigabytes (own threshold: 1.5 GiB in 32 bits).
const manyPairs = 20000

var (
	// square is a matrix by its two sides; ofPairs is what has as many columns as rows.
	square  = lazily(`(?i)\b(\d{5,7}) ?[x×*] ?(\d{5,7})\b`)
	ofPairs = lazily(`(?i)\bmatri(?:x|ces)\b|\bpairwise\b|\b(?:distance|similarit|affinit)\w*`)
	// wholePairs is such a matrix in words, with what says that it is made as a whole.
	wholePairs = lazily(`(?i)\b(?:distances?|similarity|affinity|pairwise(?: \w+)?|gram|kernel) matri(?:x|ces)\b[^.\n]{0,60}\b(?:(?:of|for|between|over) (?:all|every)\b|` +
		`(?:does(?:n['’]?t| not)|won['’]?t|can(?:not|['’]?t)) fit|too (?:large|big)|n ?[x×*] ?n\b)|` +
		`\b(?:n ?[x×*] ?n|all[- ]pairs|full|whole|entire|huge) (?:\w+ )?(?:distances?|similarity|affinity|pairwise|kernel|gram) matri(?:x|ces)\b`)
	// denseEdges is the matrix of which nodes of a graph are joined, as an array.
	denseEdges = lazily(`(?i)\badjacency matri(?:x|ces)\b`)
	// ranksAgain is the step of a search for pictures that compares all with all; ofWords is the one of a search for texts, which is a model.
	ranksAgain = lazily(`(?i)\bre-?rank(?:ing|ed|er)?\b`)
	ofGallery  = lazily(`(?i)\bmatri(?:x|ces)\b|\bdistances?\b|\bk-?reciprocal\b|\bgallery\b|\b(?:person|object|vehicle) re-?id\w*|\bre-?id(?:entification)?\b|\bimage (?:search|retrieval)\b|\b\d+ ?k images\b`)
	ofWords    = lazily(`(?i)\b(?:rag|llms?|documents?|passages?|chunks?|cross[- ]?encoders?|bge\S*|jina\S*|cohere|chat\w*|tokens?|vllm|tei)\b`)
	// ofNodes are words of a graph that is trained on.
	ofNodes = lazily(`(?i)\b(?:nodes?|edges|edge_index|adjacency|ogbn?|message[- ]passing|dgl|pyg|torch[-_ ]geometric)\b`)
)

// addPairs puts a matrix of all pairs into a context, and how many things it compares, where that is told.
func addPairs(c *sampler.LogContext, text string, all []sentence) {
	count, is := 0, false
	for _, s := range all {
		if ofPairs.MatchString(s.text) {
			for _, at := range square.FindAllStringSubmatch(s.text, 4) {
				if n, err := strconv.Atoi(at[1]); err == nil && at[1] == at[2] && n >= manyPairs {
					count, is = n, true
				}
			}
		}
		is = is || wholePairs.MatchString(s.text) || denseEdges.MatchString(s.text) && numpyArray.MatchString(s.text)
	}
	if ranksAgain.MatchString(text) && ofGallery.MatchString(text) && !ofWords.MatchString(text) {
		is = true
	}
	if !is {
		return
	}
	c.Told = append(c.Told, sampler.ToldPairs+strconv.Itoa(count))
	if !ofNodes.MatchString(text) {
		c.Told = slices.DeleteFunc(c.Told, func(what string) bool { return what == sampler.ToldDomain+sampler.DomainGraph })
	}
}
