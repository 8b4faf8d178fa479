//go:build race

package contract

// raced says that the race detector is on.
const raced = true
