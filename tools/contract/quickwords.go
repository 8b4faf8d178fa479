package contract

import (
	"encoding/json"
	"regexp"
	"strings"
)

// sameScalar reports whether two values are the same text, number in the same
// spelling, truth value or null. The decoder gives numbers in one spelling, and
// schemas write them so.
func sameScalar(a, b any) bool {
	switch a := a.(type) {
	case nil:
		return b == nil
	case bool, string, json.Number:
		switch b.(type) {
		case bool, string, json.Number:
			return a == b
		}
	}
	return false
}

// allScalar reports whether sameScalar can compare with each of the values.
func allScalar(list []any) bool {
	for _, x := range list {
		switch x := x.(type) {
		case json.Number:
			if !plainInteger(string(x)) {
				return false
			}
		case []any, map[string]any:
			return false
		}
	}
	return true
}

func inEnum(v any, list []any) bool {
	for _, x := range list {
		if sameScalar(v, x) {
			return true
		}
	}
	return false
}

// charClass is a set of ASCII characters.
type charClass [128]bool

func class(set string) *charClass {
	c := &charClass{}
	for i := range len(set) {
		c[set[i]] = true
	}
	return c
}

func (c *charClass) all(s string) bool {
	for i := range len(s) {
		if s[i] >= 128 || !c[s[i]] {
			return false
		}
	}
	return true
}

const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

var (
	hexClass   = class(digits + "abcdef")
	digitClass = class(digits)
)

// headed matches a first character of one class and any number of another.
func headed(first, rest string) func(string) bool {
	f, r := class(first), class(rest)
	return func(s string) bool { return s != "" && f.all(s[:1]) && r.all(s[1:]) }
}

// matchers are the patterns that stand in every record, which regexp reads at a
// twentieth of the speed.
var matchers = map[string]func(string) bool{
	`^sha256:[0-9a-f]{64}$`: func(s string) bool {
		return len(s) == 71 && strings.HasPrefix(s, "sha256:") && hexClass.all(s[7:])
	},
	`^[a-z0-9][a-z0-9-]*$`:                                                    headed(digits+lower, digits+lower+"-"),
	`^[a-z0-9][a-z0-9_-]*$`:                                                   headed(digits+lower, digits+lower+"_-"),
	`^[0-9A-Za-z][0-9A-Za-z.+_-]*$`:                                           headed(digits+upper+lower, digits+upper+lower+".+_-"),
	`^[0-9A-Za-z][0-9A-Za-z._-]*$`:                                            headed(digits+upper+lower, digits+upper+lower+"._-"),
	`^[A-Za-z0-9][A-Za-z0-9._+-]*(/[A-Za-z0-9][A-Za-z0-9._+-]*)*$`:            isPlace,
	`^shapes/[a-z0-9-]+/sha256-[0-9a-f]{64}\.shape\.json$`:                    isShapePath,
	`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,9})?Z$`: isTimestamp,
}

func matcher(re *regexp.Regexp) func(string) bool {
	if m := matchers[re.String()]; m != nil {
		return m
	}
	return re.MatchString
}

var placePart = headed(digits+upper+lower, digits+upper+lower+"._+-")

func isPlace(s string) bool {
	for part := range strings.SplitSeq(s, "/") {
		if !placePart(part) {
			return false
		}
	}
	return true
}

var familyFolder = class(digits + lower + "-")

func isShapePath(s string) bool {
	rest, ok := strings.CutPrefix(s, "shapes/")
	folder, name, found := strings.Cut(rest, "/")
	return ok && found && folder != "" && familyFolder.all(folder) && len(name) == 7+64+len(".shape.json") &&
		strings.HasPrefix(name, "sha256-") && strings.HasSuffix(name, ".shape.json") && hexClass.all(name[7:71])
}

func isTimestamp(s string) bool {
	const form = "0000-00-00T00:00:00"
	if len(s) < len(form)+1 || s[len(s)-1] != 'Z' {
		return false
	}
	for i := range len(form) {
		if form[i] == '0' && (s[i] < '0' || s[i] > '9') || form[i] != '0' && s[i] != form[i] {
			return false
		}
	}
	rest := s[len(form) : len(s)-1]
	return rest == "" || rest[0] == '.' && len(rest) >= 2 && len(rest) <= 10 && digitClass.all(rest[1:])
}
