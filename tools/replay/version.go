package replay

import "github.com/nexu-io/open-design-agent-contracts/tools/replay/opendesign"

// Version names the readers of this package. It changes when any transcript
// gets another reading; the goldens are then made again in the same change.
const Version = "open-design@" + opendesign.Version + "+1 reference@1"
