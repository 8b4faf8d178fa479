package validate

import "sync"

// memo keeps what find found out, by key. Two that ask at once wait for one
// answer.
type memo[K comparable, T any] struct {
	find  func(K) (T, error)
	mu    sync.RWMutex
	found map[K]*answer[T]
}

type answer[T any] struct {
	once sync.Once
	is   T
	err  error
}

func (m *memo[K, T]) get(key K) (T, error) {
	m.mu.RLock()
	a := m.found[key]
	m.mu.RUnlock()
	if a == nil {
		a = m.add(key)
	}
	a.once.Do(func() { a.is, a.err = m.find(key) })
	return a.is, a.err
}

// put gives the answer for a key beforehand.
func (m *memo[K, T]) put(key K, is T) {
	a := m.add(key)
	a.once.Do(func() { a.is = is })
}

func (m *memo[K, T]) add(key K) *answer[T] {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.found == nil {
		m.found = map[K]*answer[T]{}
	}
	a := m.found[key]
	if a == nil {
		a = &answer[T]{}
		m.found[key] = a
	}
	return a
}

// fixtureKey is a key of what follows from a fixture.
type fixtureKey struct{ place, dialect, agent string }

// goldenKey is a golden of an adapter, and what it was derived from.
type goldenKey struct {
	adapter, place string
	fixture        fixtureKey
}
