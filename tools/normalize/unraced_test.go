//go:build !race

package normalize_test

const raced = false
