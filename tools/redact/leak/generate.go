package leak

//go:generate go run ./gen
