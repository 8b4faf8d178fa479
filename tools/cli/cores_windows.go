package cli

// noCores has nothing to do where no program leaves core files.
func noCores() {}
