//go:build race

package gate

// raced says that the race detector is on.
const raced = true
