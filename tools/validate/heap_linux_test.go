package validate

import (
	"runtime"
	"testing"
)

// A heap that was made large holds nothing, and a registry of some files, as
// tests have it, makes none.
func TestLargePagesLeaveTheHeapEmpty(t *testing.T) {
	if n := heapOf(1000); n >= heapLeast {
		t.Errorf("1,000 files ask for %d bytes", n)
	}
	if small, large := heapOf(20_000), heapOf(250_000); small < heapLeast || large < 2*small || large > 2<<30 {
		t.Errorf("20,000 files ask for %d bytes, 250,000 for %d", small, large)
	}
	const n = heapLeast
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	largePages(n)
	runtime.ReadMemStats(&after)
	if got := int64(after.HeapInuse) - int64(before.HeapInuse); got > n/2 {
		t.Errorf("%d bytes of the room are still in use", got)
	}
	if after.HeapSys < n {
		t.Errorf("the heap has %d bytes of addresses, want %d", after.HeapSys, n)
	}
}
