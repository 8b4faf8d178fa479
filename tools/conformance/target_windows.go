package conformance

import "errors"

// Executables is not there on Windows: the situations that the requirements need
// are made with signals, sessions and process groups.
func Executables(*Profile, string) func(Requirement) (Target, func(), error) {
	return func(Requirement) (Target, func(), error) {
		return nil, nil, errors.New("judging an executable needs a Unix system")
	}
}
