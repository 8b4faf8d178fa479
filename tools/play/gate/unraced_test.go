//go:build !race

package gate

const raced = false
