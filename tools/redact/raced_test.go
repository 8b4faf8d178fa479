//go:build race

package redact

// Raced says that the race detector is on, under which a sweep over everything
// takes ten times as long and sees nothing that a part of it does not: there it
// takes a part, and the sweeps of .ci/run have the whole without the detector.
const Raced = true
