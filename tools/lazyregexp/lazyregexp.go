// Package lazyregexp holds regular expressions of packages that are compiled
// when they are first used. A command runs a few of the program's tools and
// starts with all of them: what a package compiles while it is initialised,
// every command waits for.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled on first use. It may be used
// by several goroutines at once.
type Regexp struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

// New returns the expression, in the syntax of package regexp. A faulty one
// panics when it is first used; a test compiles all that stand in the sources.
func New(expr string) *Regexp { return &Regexp{expr: expr} }

// Get returns the compiled expression.
func (r *Regexp) Get() *regexp.Regexp {
	r.once.Do(func() { r.re = regexp.MustCompile(r.expr) })
	return r.re
}
