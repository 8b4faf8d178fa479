package lazyregexp_test

import (
	"sync"
	"testing"

	"github.com/nexu-io/open-design-agent-contracts/tools/lazyregexp"
)

func TestCompilesOnce(t *testing.T) {
	t.Parallel()
	r := lazyregexp.New(`^a+$`)
	first := r.Get()
	if !first.MatchString("aa") || first.MatchString("ab") {
		t.Fatalf("%s is another expression", first)
	}
	var users sync.WaitGroup
	for range 8 {
		users.Go(func() {
			if r.Get() != first {
				t.Error("the expression was compiled again")
			}
		})
	}
	users.Wait()
}

func TestAFaultyOnePanicsWhenItIsUsed(t *testing.T) {
	t.Parallel()
	r := lazyregexp.New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("a faulty expression was compiled")
		}
	}()
	r.Get()
}
