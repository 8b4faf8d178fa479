//go:build !race

package redact

const Raced = false
