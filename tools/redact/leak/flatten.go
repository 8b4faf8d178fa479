package leak

import (
	"slices"
	"strings"
)

// Flatten returns the texts of the frames in b, decoded, for scanners that
// know neither JSON nor frames: every string on a line of its own, then the
// texts that came in pieces, joined. A line that is no frame stays as it is.
func Flatten(b []byte) []byte {
	x := newScan(&Scanner{})
	x.entire = true
	var out strings.Builder
	pieces := map[uint64][]string{}
	var order []uint64
	add := func(key uint64, text string) {
		if _, ok := pieces[key]; !ok {
			order = append(order, key)
		}
		pieces[key] = append(pieces[key], text)
	}
	for line := range strings.Lines(string(b)) {
		x.read(strings.TrimRight(line, "\n"))
		if len(x.leaves) == 0 {
			out.WriteString(line)
			continue
		}
		for _, l := range x.leaves {
			out.WriteString(l.text)
			out.WriteByte('\n')
			add(l.path, l.text)
			if x.group != 0 {
				add(l.path^x.group, l.text)
			}
		}
	}
	for _, key := range order {
		if list := pieces[key]; len(slices.Compact(slices.Clone(list))) > 1 {
			out.WriteString(strings.Join(list, ""))
			out.WriteByte('\n')
		}
	}
	return []byte(out.String())
}
