package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"filippo.io/age"
)

// identityFile is the key of this machine in the private state folder. It
// reads what was captured here; maintainers read with their own.
const identityFile = "identity.txt"

// machineIdentity returns the key of this machine and makes it on first use.
func machineIdentity(stateDir string) (*age.X25519Identity, error) {
	file := filepath.Join(stateDir, identityFile)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		if err := newIdentity(stateDir, file); err != nil {
			return nil, fmt.Errorf("making the key of this machine: %w", err)
		}
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading the key of this machine: %w", err)
	}
	id, err := age.ParseX25519Identity(strings.TrimSpace(string(b)))
	if err != nil { // its text may quote the key
		return nil, fmt.Errorf("reading the key of this machine: %s holds no age identity", file)
	}
	return id, nil
}

// newIdentity makes a key. Of two processes that do so at once, one wins.
func newIdentity(stateDir, file string) error {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	tmp, err := os.CreateTemp(stateDir, "."+identityFile+"-") // readable by its owner only
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(tmp.Name()) }()
	_, err = tmp.WriteString(id.String() + "\n")
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	if err := os.Link(tmp.Name(), file); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// ReadIdentities reads a file of age identities, as age-keygen writes it. Its
// errors quote nothing of the file.
func ReadIdentities(file string) ([]age.Identity, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("reading age identities: %w", err)
	}
	defer func() { _ = f.Close() }()
	ids, err := age.ParseIdentities(f)
	if err != nil {
		return nil, fmt.Errorf("reading age identities: %s holds none that can be used", file)
	}
	return ids, nil
}

func recipients(keys []string) ([]age.Recipient, error) {
	var out []age.Recipient
	for _, k := range keys {
		r, err := age.ParseX25519Recipient(k)
		if err != nil {
			return nil, fmt.Errorf("reading a maintainer's key: %q is no age recipient", k)
		}
		out = append(out, r)
	}
	return out, nil
}
