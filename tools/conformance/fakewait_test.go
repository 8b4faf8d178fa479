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
		} else if all = false; c.Elsewhere {
			where = "stopped_without_end"
		}
		lists[where] = append(lists[where], id)
		entries = append(entries, d)
	}
	out := object{"entries": entries, "all_terminal": all, "timed_out": len(lists["pending"]) > 0, "max_wait_seconds": min(window, 3600), "poll_interval_seconds": min(poll, 60)}
	for name, list := range lists {
		out[name] = list
	}
	if len(lists["pending"]) > 0 {
		took = time.Duration(window * float64(time.Second))
	} else if len(lists["stopped_without_end"]) > 0 && window > 0 {
		took = time.Duration(poll * float64(time.Second))
	}
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
	case f.is("D10.5") && 0 < window && window < 1:
		return nil, f.refuse("unavailable", "timed out"), took
	case f.is("D10.6") && mixed:
		out["all_terminal"] = true
	case f.is("D10.8"):
		out["max_wait_seconds"] = window
	case f.is("D10.9") && window == 0 && poll == 30:
		took = 30 * time.Second
	case f.is("D10.10") && mixed:
		out["stopped_without_end"] = lists["pending"]
	case f.is("D10.11") && window == 0 && len(entries) == 1 && len(lists["pending"]) == 1 && poll == 1:
		entries[0].(object)["terminal"] = true
	case f.is("D10.12") && c.Interrupt:
		for _, r := range f.runs {
			r.gone = true
		}
	case f.is("D10.13") && c.Elsewhere:
		took = 100 * time.Millisecond
	}
	return out, nil, took
}
