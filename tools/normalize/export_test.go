package normalize

// Plod makes shapes frame by frame, without what is known of a frame's form.
func (n *Normalizer) Plod() *Normalizer {
	n.rules.plodding = true
	return n
}
