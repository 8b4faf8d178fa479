//go:build !race

package contract

const raced = false
