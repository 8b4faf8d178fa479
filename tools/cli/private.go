package cli

import (
	"errors"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/nexu-io/open-design-agent-contracts/tools/store"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private"
	"github.com/nexu-io/open-design-agent-contracts/tools/store/private/s3"
)

// The environment says where raw bundles are and who reads them, so that every
// command of a CI job works on the same store.
const (
	bucketVariable   = "AGENT_CONTRACTS_RAW_STORE"
	identityVariable = "AGENT_CONTRACTS_IDENTITY"
)

// bucket returns the shared bucket that the environment names; nil for the
// private state folder.
func (a *app) bucket() (private.Bucket, error) {
	address := a.env.Getenv(bucketVariable)
	switch {
	case address == "":
		return nil, nil
	case filepath.IsAbs(address):
		return private.NewFolder(address)
	case !strings.HasPrefix(address, s3.Scheme):
		return nil, &Exit{Code: ExitUsage, Err: errors.New(bucketVariable + " is neither the absolute path of a folder nor an address"), Hint: "write /path/to/folder or s3://ENDPOINT/BUCKET[/PREFIX][?region=REGION]"}
	}
	c, err := s3.Parse(address, a.env.Getenv)
	if err != nil {
		return nil, &Exit{Code: ExitUsage, Err: err, Hint: "see docs/EVIDENCE.md"}
	}
	return s3.Open(c)
}

// privateStore opens the raw bundles, encrypted to the maintainers of a
// registry, with the keys that the environment names.
func (a *app) privateStore(reg *store.Registry) (*private.Store, error) {
	c, err := a.privateConfig(reg)
	if err != nil {
		return nil, err
	}
	return private.Open(c)
}

func (a *app) privateConfig(reg *store.Registry) (private.Config, error) {
	var c private.Config
	var err error
	if c.StateDir, err = store.StateDir(a.env.Getenv); err != nil {
		return c, &Exit{Code: ExitUsage, Err: err, Hint: "set XDG_STATE_HOME to a folder that nobody else may read"}
	}
	if c.Bucket, err = a.bucket(); err != nil {
		return c, err
	}
	if c.Identities, err = a.identities(); err != nil {
		return c, err
	}
	policy, err := reg.Policy()
	if err != nil {
		return c, err
	}
	c.Recipients = policy.Recipients()
	return c, nil
}

func (a *app) identities() ([]age.Identity, error) {
	file := a.env.Getenv(identityVariable)
	if file == "" {
		return nil, nil
	}
	ids, err := private.ReadIdentities(file)
	if err != nil {
		return nil, &Exit{Code: ExitUsage, Err: err, Hint: identityVariable + " names a file as age-keygen writes it"}
	}
	return ids, nil
}
