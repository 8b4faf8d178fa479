package validate

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// What a validation has in memory at most: so much for each file of a small
// registry, of which most is garbage of what follows from the fixtures, and with
// many files so much for each and this for the fixtures.
const (
	heapSmall    = 24 << 10 // bytes a file
	heapLarge    = 3 << 10  // bytes a file
	heapFixtures = 384 << 20
	heapLeast    = 64 << 20 // one arena of Go's heap; less is not worth it
)

// heapOf estimates the heap that the validation of so many files will have.
func heapOf(files int) int { return min(files*heapSmall, heapFixtures+files*heapLarge) }

// largePages has the kernel give the heap large pages while it grows to n bytes,
// where it gives them to those who ask (transparent huge pages, "madvise"). The
// first touch of each of 300,000 small ones was a tenth to a third of a
// validation's processor time. What is asked for here is not touched and free
// again at once: Go's heap keeps the addresses, and with them the advice.
func largePages(n int) {
	if n < heapLeast {
		return
	}
	room := make([]byte, n)
	_ = unix.Madvise(room, unix.MADV_HUGEPAGE) // a kernel without them gives small ones
	runtime.KeepAlive(room)
	runtime.GC()
}
