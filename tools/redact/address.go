package redact

import (
	"net/netip"
	"strings"
)

// ipv6At returns the end of the IPv6 address at i, with its zone, or 0. Fewer
// than three groups name nobody (::1), or are no address (a::b).
func ipv6At(s string, i int) int {
	if i > 0 && (isAlnum(s[i-1]) || s[i-1] == ':') {
		return 0
	}
	j, groups, digit := i, 0, false
	for j < len(s) && j < i+46 && (isHex(s[j]) || s[j] == ':') {
		if s[j] != ':' && (j == i || s[j-1] == ':') {
			groups++
		}
		digit = digit || isDigit(s[j])
		j++
	}
	for j > i && s[j-1] == ':' && !strings.HasSuffix(s[i:j], "::") {
		j--
	}
	if groups < 3 || !digit || j < len(s) && isAlnum(s[j]) {
		return 0
	}
	if _, err := netip.ParseAddr(s[i:j]); err != nil {
		return 0
	}
	if j+1 < len(s) && s[j] == '%' && isAlnum(s[j+1]) {
		for j++; j < len(s) && isAlnum(s[j]); {
			j++
		}
	}
	return j
}

// The last labels by which a dotted name is a host's, although names of events
// have dots too: of any such name, and of one with three labels or a port.
var (
	hostEnds  = setOf("com net org edu gov cn de uk fr jp local lan corp intranet localdomain")
	localEnds = setOf("internal home io dev app ai cloud")
)

func setOf(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

// isAddress says that a whole value is an IP address or the name of a host, with
// or without a port.
func isAddress(v string) bool {
	if _, err := netip.ParseAddr(v); err == nil {
		return true
	}
	if _, err := netip.ParseAddrPort(v); err == nil {
		return true
	}
	name, port, _ := strings.Cut(v, ":")
	last := name[strings.LastIndexByte(name, '.')+1:]
	if len(last) == len(name) || hostAt(v, 0) != len(v) {
		return false
	}
	return hostEnds[last] || localEnds[last] && (port != "" || strings.Count(name, ".") >= 2)
}
