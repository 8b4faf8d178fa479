package main

import "time"

var started = time.Now()

// processorTime is the time since the start: Windows has no rusage.
func processorTime() float64 { return time.Since(started).Seconds() }
