package redact

import (
	"hash/maphash"
	"strings"
)

// index notes every text that the first n pieces make.
func (g *groups) index(t *group) {
	lead := len(t.joined) - len(strings.TrimLeft(t.joined, " \t\r\n"))
	var h maphash.Hash
	h.SetSeed(keySeeds[0])
	done := lead
	for n, end := range t.bounds {
		stop := max(done, len(strings.TrimRight(t.joined[:end], " \t\r\n")))
		h.WriteString(t.joined[done:stop])
		done = stop
		if n > 0 && stop > lead {
			sum := h.Sum64()
			g.note(sum, runOf{t, int32(n + 1), int32(lead), int32(stop), -1})
		}
	}
}

// note adds a run; of equal texts the first counts.
func (g *groups) note(sum uint64, x runOf) {
	at, ok := g.runs[sum]
	if !ok {
		at = -1
	}
	for i := at; i >= 0; i = g.list[i].next {
		if c := &g.list[i]; c.g.joined[c.a:c.b] == x.g.joined[x.a:x.b] {
			return
		}
	}
	x.next = at
	g.runs[sum] = int32(len(g.list))
	g.list = append(g.list, x)
}

// runText returns the placeholders of the pieces for a text that a run of
// pieces makes.
func (r *run) runText(s string) (string, bool) {
	if len(r.groups.runs) == 0 {
		return r.prefixed(s)
	}
	t := strings.Trim(s, " \t\r\n")
	at, ok := r.groups.runs[maphash.String(keySeeds[0], t)]
	if !ok {
		return r.prefixed(s)
	}
	for ; at >= 0; at = r.groups.list[at].next {
		c := r.groups.list[at]
		if c.g.joined[c.a:c.b] != t {
			continue
		}
		r.resolve(c.g)
		lead := len(s) - len(strings.TrimLeft(s, " \t\r\n"))
		out := strings.Trim(strings.Join(c.g.out[:c.n], ""), " \t\r\n")
		return s[:lead] + out + s[lead+len(t):], true
	}
	return r.prefixed(s)
}

// prefixed returns the placeholders of the longest text in pieces that a text
// of the model begins with, and what stands for the rest.
func (r *run) prefixed(s string) (string, bool) {
	var best *group
	for _, g := range r.groups.prefixes {
		if len(g.joined) < len(s) && strings.HasPrefix(s, g.joined) && g.joined != "" && (best == nil || len(g.joined) > len(best.joined)) {
			best = g
		}
	}
	if best == nil || !r.spoken.has(s) {
		return "", false
	}
	r.resolve(best)
	return strings.Join(best.out, "") + r.str(s[len(best.joined):], 0), true
}
