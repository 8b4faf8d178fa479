package cli

import (
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// nearest returns the candidate that word was probably meant to be: the only
// one that starts with it, or the one with the fewest changed letters, at most
// a third of the word; "" if none is that near.
func nearest(word string, candidates []string) string {
	var longer []string
	for _, c := range candidates {
		if word != "" && strings.HasPrefix(c, word) {
			longer = append(longer, c)
		}
	}
	if len(longer) == 1 {
		return longer[0]
	}
	best, most := "", max(len(word)/3, 1)
	for _, c := range candidates {
		if n := contract.EditDistance(word, c); n <= most {
			best, most = c, n-1
		}
	}
	return best
}

// didYouMean returns the hint for a word that is none of the candidates, or "".
func didYouMean(word string, candidates []string) string {
	if near := nearest(word, candidates); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}
