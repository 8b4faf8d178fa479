package contract

// ValidRunID reports whether s is the id of a run: when it was made and six
// hexadecimal digits, such as 20260725T175010-97f334 (FINE-PRINT 24). Such an id
// is safe as the name of a folder.
func ValidRunID(s string) bool {
	const form = "00000000T000000-xxxxxx"
	if len(s) != len(form) {
		return false
	}
	for i := range len(form) {
		c := s[i]
		digit := '0' <= c && c <= '9'
		switch form[i] {
		case '0':
			if !digit {
				return false
			}
		case 'x':
			if !digit && (c < 'a' || c > 'f') {
				return false
			}
		default:
			if c != form[i] {
				return false
			}
		}
	}
	return true
}
