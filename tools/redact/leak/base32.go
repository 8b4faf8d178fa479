package leak

// minBase32 is how many letters of base32 spell something readable.
const minBase32 = (minReadable*8 + 4) / 5 * 3 / 2

// fiveBits has the value of each letter of base32, 0xff for other bytes.
var fiveBits = func() (t [256]byte) {
	for c := range t {
		t[c] = 0xff
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") {
		t[c] = byte(i)
	}
	return
}()

// base32s scans what runs of base32 in a run of letters decode to.
func (x *scan) base32s(l *layer, i, j int) {
	s := l.s
	for k := i + minBase32 - 1; k < j; k += minBase32 {
		if fiveBits[s[k]] == 0xff {
			continue
		}
		a, b := k, k+1
		for a > i && fiveBits[s[a-1]] != 0xff {
			a--
		}
		for b < j && fiveBits[s[b]] != 0xff {
			b++
		}
		for shift := 0; shift < 8 && b-a-shift >= minBase32; shift++ {
			if readable32(s[a+shift : b]) {
				c := l.child("base32", a+shift, b, base32)
				c.round = true
				x.view(c)
			}
		}
		k = b - 1
	}
}

// readable32 says that base32 spells some readable text.
func readable32(s string) bool {
	acc, bits, n := uint32(0), 0, 0
	for i := range len(s) {
		acc = acc<<5 | uint32(fiveBits[s[i]])
		if bits += 5; bits < 8 {
			continue
		}
		bits -= 8
		if !textByte[byte(acc>>bits)] {
			n = 0
		} else if n++; n == minReadable {
			return true
		}
	}
	return false
}

// base32 decodes letters of base32, without padding.
func base32(s string, places bool) (string, []int32) { return packed(s, 5, &fiveBits, places) }
