package contract

// crossFileRules are about a record and other files.
var crossFileRules = []Rule{}
