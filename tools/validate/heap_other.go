//go:build !linux

package validate

func heapOf(int) int { return 0 }

// largePages is of Linux alone.
func largePages(int) {}
