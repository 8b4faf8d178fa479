package conformance

import (
	"slices"
	"strconv"
	"time"
)

func (f *fake) wait(args []string, c Call) (data, refusal object, took time.Duration) {
	window, _ := strconv.ParseFloat(args[1], 64)
	poll, _ := strconv.ParseFloat(args[2], 64)
	ids := args[3:]
	lists := map[string][]any{"terminal": {}, "pending": {}, "stopped_without_end": {}, "unresolved_spawn": {}}
	entries, all := []any{}, true
	for _, id := range ids {
		r := f.find(id)
		if r == nil {
			all = false
			e := object{"run_id": id, "kind": "", "status": "unknown", "terminal": false, "outcome": nil, "reason_code": nil, "error": f.refuse("not_found", "m")}
			if f.is("D10.7") {
				e["error"] = nil
			}
			entries = append(entries, e)
			continue
		}
		d := f.lifecycle(r)
		d["error"] = nil
		where := "pending"
		if d["terminal"] == true {
			where = "terminal"
		} else if all = false; r.kind == "stuck" {
			if f.aged && !f.is("D10.24") || f.is("D10.23") {
				where = "unresolved_spawn"
			}
		} else if c.Elsewhere {
			where = "stopped_without_end"
			if f.is("D6.13") && window == 0 {
				r.gone = true
			}
		}
		lists[where] = append(lists[where], id)
		entries = append(entries, d)
	}
	out := object{"entries": entries, "all_terminal": all, "timed_out": len(lists["pending"]) > 0, "max_wait_seconds": min(window, 3600), "poll_interval_seconds": max(0.1, min(poll, 60)), "preparing_threshold_seconds": 60}
	for name, list := range lists {
		out[name] = list
	}
	if len(lists["pending"]) > 0 {
		took = time.Duration(window * float64(time.Second))
	} else if len(lists["stopped_without_end"])+len(lists["unresolved_spawn"]) > 0 {
		took = time.Duration(min(window, poll) * float64(time.Second))
	}
	f.breakUnresolved(out, entries, lists, window, poll, &took)
	return f.breakWait(out, entries, lists, window, poll, took, c)
}

func (f *fake) breakWait(out object, entries []any, lists map[string][]any, window, poll float64, took time.Duration, c Call) (data, refusal object, t time.Duration) {
	mixed := len(entries) == 3
	for _, e := range entries {
		if f.is("D10.2") {
			delete(e.(object), "reason_code")
		}
		if f.is("D10.3") {
			delete(e.(object), "outcome")
		}
	}
	switch {
	case f.is("D10.1"):
		slices.Reverse(entries)
	case f.is("D10.4") && out["all_terminal"] == true:
		out["all_terminal"] = false
	case f.is("D10.5") && window == 0.2:
		return nil, f.refuse("unavailable", "timed out"), took
	case f.is("D10.6") && mixed:
		out["all_terminal"] = true
	case f.is("D10.14") && window == 0.5:
		entries[1].(object)["terminal"], entries[1].(object)["outcome"] = false, nil
	case f.is("D10.17") && mixed:
		out["pending"] = append(lists["pending"], neverWas)
	case f.is("D10.8"):
		out["max_wait_seconds"] = window
	case f.is("D10.9") && window == 0 && poll == 30 && len(lists["pending"]) > 0:
		took = 30 * time.Second
	case f.is("D10.10") && mixed:
		out["stopped_without_end"] = lists["pending"]
	case f.is("D10.11") && window == 0 && len(entries) == 1 && len(lists["pending"]) == 1 && poll == 1:
		entries[0].(object)["terminal"] = true
	case f.is("D10.12") && c.Interrupt == "INT", f.is("D10.15") && c.Interrupt == "KILL":
		for _, r := range f.runs {
			r.gone = true
		}
	case f.is("D10.13") && c.Elsewhere && poll == 2 && window == 60:
		took = 100 * time.Millisecond
	}
	return out, nil, took
}

// breakUnresolved breaks what a wait says of what it cannot resolve.
func (f *fake) breakUnresolved(out object, entries []any, lists map[string][]any, window, poll float64, took *time.Duration) {
	stopped, unresolved := len(lists["stopped_without_end"]) > 0, len(lists["unresolved_spawn"]) > 0
	switch {
	case f.is("D10.18") && stopped && poll == interval, f.is("D10.26") && unresolved && poll == interval,
		f.is("D10.20") && stopped && poll == interval+1:
		*took = time.Duration(poll) * time.Second
	case f.is("D10.19") && stopped && window == 60 && poll == 1:
		*took = time.Minute
	case f.is("D10.21") && stopped && poll == 1:
		entries[0].(object)["outcome"] = "indeterminate"
	case f.is("D10.22") && poll == 2 && len(lists["terminal"]) == 1 && f.runs[0].kind == "slow":
		out["terminal"], out["stopped_without_end"] = []any{}, lists["terminal"]
	case f.is("D10.25") && unresolved && poll == 2:
		*took = 0
	}
}
