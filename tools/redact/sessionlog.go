package redact

import (
	"bytes"

	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/paths"
	"github.com/nexu-io/open-design-agent-contracts/tools/transcript/rawjson"
)

// sessionLog is the compiled form of contract.SessionLog.
type sessionLog struct {
	rules *dialect
	keep  []condition
}

func compileSessionLog(c *contract.SessionLog) (sessionLog, error) {
	l := sessionLog{rules: &dialect{id: c.ID}}
	for _, p := range []struct {
		list []string
		flag paths.Flags
	}{{c.Literals, fLiteral}, {c.Measured, fMeasured}} {
		for _, path := range p.list {
			if err := l.rules.set.Add(path, p.flag); err != nil {
				return l, err
			}
		}
	}
	var err error
	l.keep, err = l.rules.compileMatches(c.Keep)
	return l, err
}

// rules returns by what rules a record is redacted: those of the run's dialect
// for what passed through a pipe. Of a session file the lines stay that its
// form names; nil says that a line is left out. A line that is no JSON stays,
// without its words: that the file is broken is evidence too.
func (r *Redactor) rules(d *dialect, rec *transcript.Record) *dialect {
	if rec.Stream != transcript.Session {
		return d
	}
	v, err := rawjson.Parse(bytes.TrimSpace(rec.Data))
	if err != nil {
		return &dialect{}
	}
	for i := range r.logs {
		l := &r.logs[i]
		in := newLookups(l.rules)
		if in.next(v); anyHolds(l.keep, &in) {
			return l.rules
		}
	}
	return nil
}
