//go:build linux && race

package main

// The race detector needs several times the memory.
const raceEnabled = true
