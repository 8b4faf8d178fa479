package private

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// sealOld encrypts bundles that a former version of this program left in clear
// in the folder raw, and removes them. They have no background, so they can be
// read and not audited. A file that is not the bundle of its name is for a
// person to look at.
func (s *Store) sealOld(ctx context.Context, stateDir string) error {
	old, err := filepath.Glob(filepath.Join(stateDir, "raw", "*", "*.bundle"))
	if err != nil {
		return err
	}
	for _, file := range old {
		d := contract.Digest("sha256:" + strings.TrimSuffix(filepath.Base(file), ".bundle"))
		now := time.Now().UTC().Truncate(time.Second)
		meta := Meta{SHA256: d, StoredAt: now, RetainUntil: now.Add(Retention)}
		if known, err := s.Stat(ctx, d); err == nil {
			meta = known
		}
		if err := s.Keep(ctx, file, meta, nil); err != nil && !errors.Is(err, fs.ErrNotExist) { // another process was quicker
			return fmt.Errorf("%s is a raw bundle in clear and cannot be encrypted: move or remove it: %w", file, err)
		}
	}
	return nil
}
