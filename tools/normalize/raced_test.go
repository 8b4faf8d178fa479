//go:build race

package normalize_test

// raced says that the race detector is on.
const raced = true
