package cli

import "strings"

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
		if n := distance(word, c); n <= most {
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

// distance counts the letters to insert, remove or replace (Levenshtein).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}
