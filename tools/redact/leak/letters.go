package leak

// letters64 is base64 without the places.
func letters64(s string) string {
	out := make([]byte, 0, len(s)*3/4+2)
	for ; len(s) >= 4; s = s[4:] {
		x := uint32(sixBits[s[0]])<<18 | uint32(sixBits[s[1]])<<12 | uint32(sixBits[s[2]])<<6 | uint32(sixBits[s[3]])
		out = append(out, byte(x>>16), byte(x>>8), byte(x))
	}
	if len(s) >= 2 {
		out = append(out, sixBits[s[0]]<<2|sixBits[s[1]]>>4)
	}
	if len(s) == 3 {
		out = append(out, sixBits[s[1]]<<4|sixBits[s[2]]>>2)
	}
	return string(out)
}
