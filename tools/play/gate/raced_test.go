//go:build race

package gate

// raced says that the race detector is on. .ci/run has the whole sample without
// it.
const raced = true
