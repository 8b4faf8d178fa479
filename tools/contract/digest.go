package contract

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Digest is a SHA-256 hash in the registry's one spelling,
// "sha256:<64 lowercase hex characters>". The empty Digest stands for "none"
// and does not validate where a hash is required.
type Digest string

// Sum returns the digest of b.
func Sum(b []byte) Digest {
	h := sha256.Sum256(b)
	text := [len("sha256:") + 2*sha256.Size]byte{}
	hex.Encode(text[copy(text[:], "sha256:"):], h[:])
	return Digest(text[:])
}

// ParseDigest checks the spelling of s. It accepts the spelling of file names,
// "sha256-<hex>", too.
func ParseDigest(s string) (Digest, error) {
	h, ok := strings.CutPrefix(s, "sha256:")
	if !ok {
		h, ok = strings.CutPrefix(s, "sha256-")
	}
	if !ok || len(h) != 64 || strings.Trim(h, "0123456789abcdef") != "" {
		return "", fmt.Errorf("%q is not a digest: want sha256: and 64 lowercase hexadecimal characters", s)
	}
	return Digest("sha256:" + h), nil
}

// Hex returns the 64 hexadecimal characters, or "" for the empty Digest.
func (d Digest) Hex() string { return strings.TrimPrefix(string(d), "sha256:") }

// FileName returns the spelling for file names, "sha256-<hex>".
func (d Digest) FileName() string { return "sha256-" + d.Hex() }

// Short returns "sha256:" and the first twelve hexadecimal characters, for people.
func (d Digest) Short() string {
	if len(d.Hex()) < 12 {
		return string(d)
	}
	return "sha256:" + d.Hex()[:12]
}
