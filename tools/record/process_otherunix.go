//go:build unix && !linux

package record

import (
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func widen(*os.File) {}
