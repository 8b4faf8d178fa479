package capture

// ReadAlike reports where the readings of a raw and of its sanitized transcript
// part, in words without any content; "" if they do not. Redaction outside a
// capture proves itself with it.
func ReadAlike(raw, clean *Derived) string { return readAlike(raw, clean) }
