package rawjson

// Bounds of Forms. What a program prints again and again has few forms.
const (
	maxForms    = 48
	maxFormSize = 4 << 10
	// MaxDiffer is in how many values the texts of a form may differ.
	MaxDiffer = 32
)

// Forms finds the form of a text among those that were met lately, with what its
// user knows of it. Its memory is bounded. The zero Forms is empty.
type Forms[T any] struct {
	// Tokens are the values that may differ, of the text that matched last.
	Tokens []Token

	list []*known[T] // those used last first
	last *known[T]
	// How many texts had a form, and of how many one was tried to be made.
	hits, tried int
}

type known[T any] struct {
	form *Form
	note T
	next *known[T] // what followed it last
}

// Match returns what is known of the form of a text.
func (fs *Forms[T]) Match(text []byte) (note T, ok bool) {
	if fs.last != nil && fs.last.next != nil {
		if fs.Tokens, ok = fs.last.next.form.Match(text, fs.Tokens); ok {
			fs.last = fs.last.next
			fs.hits++
			return fs.last.note, true
		}
	}
	for i, k := range fs.list {
		if fs.Tokens, ok = k.form.Match(text, fs.Tokens); ok {
			copy(fs.list[1:i+1], fs.list[:i])
			fs.list[0] = k
			fs.hits++
			fs.follow(k)
			return k.note, true
		}
	}
	return note, false
}

func (fs *Forms[T]) follow(k *known[T]) {
	if fs.last != nil {
		fs.last.next = k
	}
	fs.last = k
}

// Try says that it may be worth trying to make a form of a text that has none: not
// where most texts have forms of their own.
func (fs *Forms[T]) Try() bool {
	if fs.tried > 2*maxForms+fs.hits/16 {
		return false
	}
	fs.tried++
	return true
}

// Add adds a form in the place of the one that was not used longest. One that
// holds too much is left out.
func (fs *Forms[T]) Add(f *Form, note T) {
	if f.size() > maxFormSize {
		return
	}
	if len(fs.list) == maxForms {
		old := fs.list[maxForms-1]
		for _, k := range fs.list {
			if k.next == old {
				k.next = nil
			}
		}
		fs.list = fs.list[:maxForms-1]
	}
	k := &known[T]{form: f, note: note}
	fs.list = append(fs.list, nil)
	copy(fs.list[1:], fs.list)
	fs.list[0] = k
	fs.follow(k)
}

// Each calls visit with what is known of each form.
func (fs *Forms[T]) Each(visit func(T)) {
	for _, k := range fs.list {
		visit(k.note)
	}
}
