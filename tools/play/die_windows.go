package play

import (
	"os"
	"os/signal"
)

// catch returns a channel with the one signal that Windows has.
func catch([]string) <-chan os.Signal {
	ch := make(chan os.Signal, 16)
	signal.Notify(ch, os.Interrupt)
	return ch
}

func signalName(s os.Signal) string {
	if s == os.Interrupt {
		return "SIGINT"
	}
	return ""
}

// Die ends this process as the recorded child ended; a signal, which Windows
// does not have, is exit code 1.
func Die(e Ending) error {
	if e.Signal != "" {
		e.Code = 1
	}
	os.Exit(e.Code)
	return nil
}
