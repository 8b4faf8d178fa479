package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// envelopeTable is D1 to D3 and D8: what every call answers.
func envelopeTable() []Requirement {
	both := []need{needRead, needNotFound}
	return []Requirement{
		{"D1.1", "Under --machine a command that succeeds writes exactly one JSON object to stdout and nothing else.", "D1, contract surface", []need{needRead}, func(b *bench) error {
			return oneObject(b.run(b.profile.Read))
		}},
		{"D1.2", "Under --machine stdout carries no colour, on a terminal neither.", "D1, contract surface", both, func(b *bench) error {
			for _, args := range [][]string{b.profile.Read, b.profile.NotFound} {
				out := append(b.run(args).Stdout, b.onTerminal(args).Stdout...)
				if bytes.IndexByte(out, 0x1b) >= 0 || bytes.Contains(out, []byte(`\u001b`)) {
					return fmt.Errorf("stdout has an escape sequence")
				}
			}
			return nil
		}},
		{"D1.3", "Machine mode is a request, never inferred from where stdout goes.", "D1; alternatives", []need{needRead}, func(b *bench) error {
			a := b.target.Run(b.ctx, Call{Args: b.in(b.profile.Read)})
			var e object
			if json.Unmarshal(bytes.TrimSpace(a.Stdout), &e) == nil && e["contract_version"] != nil && e["ok"] != nil {
				return fmt.Errorf("a call without --machine answers with an envelope")
			}
			return nil
		}},
		{"D2.1", "The handshake names the contract, the oldest one honoured, the implementation, its version and its place.", "D2, handshake", nil, func(b *bench) error {
			d, err := b.data([]string{"handshake"}, nil)
			if err != nil {
				return err
			}
			for _, n := range []string{"implementation", "implementation_version", "module"} {
				if s, ok := d[n].(string); !ok || s == "" {
					return fmt.Errorf("%s is no text", n)
				}
			}
			return has(d, "contract_version", "min_supported_version")
		}},
		{"D2.2", "contract_version is a single integer.", "D2, exact semantics", nil, func(b *bench) error {
			d, err := b.data([]string{"handshake"}, nil)
			if err != nil {
				return err
			}
			if !integer(d["contract_version"]) || !integer(d["min_supported_version"]) {
				return fmt.Errorf("a version of the handshake is no integer")
			}
			return nil
		}},
		{"D2.3", "Every envelope repeats the contract_version of the handshake.", "D2, exact semantics", both, func(b *bench) error {
			d, err := b.data([]string{"handshake"}, nil)
			if err != nil {
				return err
			}
			for _, args := range [][]string{b.profile.Read, b.profile.NotFound} {
				e, err := envelope(b.run(args))
				if err != nil {
					return err
				}
				if e["contract_version"] == nil || e["contract_version"] != d["contract_version"] {
					return fmt.Errorf("an envelope has contract_version %v, the handshake %v", e["contract_version"], d["contract_version"])
				}
			}
			return nil
		}},
		{"D2.4", "min_supported_version is a contract that the implementation still honours: at most its own.", "D2, exact semantics", nil, func(b *bench) error {
			d, err := b.data([]string{"handshake"}, nil)
			if err != nil {
				return err
			}
			least, isLeast := d["min_supported_version"].(float64)
			own, isOwn := d["contract_version"].(float64)
			if isLeast && isOwn && (least > own || least < 1) {
				return fmt.Errorf("min_supported_version %v with contract_version %v", least, own)
			}
			return nil
		}},
		{"D3.1", "Exactly one of data and error is set.", "D3, exact semantics", both, func(b *bench) error {
			for _, args := range [][]string{b.profile.Read, b.profile.NotFound} {
				e, err := envelope(b.run(args))
				if err != nil {
					return err
				}
				if (e["data"] == nil) == (e["error"] == nil) {
					return fmt.Errorf("data and error are both set or both null")
				}
			}
			return nil
		}},
		{"D3.2", "ok is a boolean that says whether the request succeeded.", "D3, exact semantics", both, func(b *bench) error {
			for i, args := range [][]string{b.profile.Read, b.profile.NotFound} {
				e, err := envelope(b.run(args))
				if err != nil {
					return err
				}
				if ok, is := e["ok"].(bool); !is || ok != (i == 0) {
					return fmt.Errorf("ok is %v", e["ok"])
				}
			}
			return nil
		}},
		{"D3.3", "error.kind is one of the closed set.", "D3, exact semantics", []need{needInvalid, needNotFound}, func(b *bench) error {
			for _, args := range [][]string{b.profile.InvalidInput, b.profile.NotFound} {
				r, err := b.refusal(args)
				if err != nil {
					return err
				}
				kind, _ := r["kind"].(string)
				if !slices.Contains([]string{"not_found", "invalid_input", "conflict", "unavailable", "internal"}, kind) {
					return fmt.Errorf("error.kind is %v", r["kind"])
				}
			}
			return nil
		}},
		{"D3.4", "error.message is for people, and error.detail an object or null.", "D3, exact semantics", []need{needNotFound}, func(b *bench) error {
			r, err := b.refusal(b.profile.NotFound)
			if err != nil {
				return err
			}
			if s, ok := r["message"].(string); !ok || s == "" {
				return fmt.Errorf("error.message is %v", r["message"])
			}
			if _, ok := r["detail"].(object); r["detail"] != nil && !ok {
				return fmt.Errorf("error.detail is neither an object nor null")
			}
			return nil
		}},
		{"D3.5", "A command that fails answers with exactly one envelope, too.", "D3, exact semantics", []need{needNotFound}, func(b *bench) error {
			return oneObject(b.run(b.profile.NotFound))
		}},
		{"D3.6", "A malformed request is refused as an answer, not by a crash.", "D3, scope of every call", []need{needInvalid}, func(b *bench) error {
			r, err := b.refusal(b.profile.InvalidInput)
			if err == nil && r["kind"] == "internal" {
				err = fmt.Errorf("a flag that does not exist is an internal error")
			}
			return err
		}},
		{"D8.1", "A command that writes a success exits 0.", "D8, exact semantics", []need{needRead}, func(b *bench) error { return zero(b.run(b.profile.Read)) }},
		{"D8.2", "A command that writes a refusal exits 0.", "D8, exact semantics", []need{needNotFound}, func(b *bench) error { return zero(b.run(b.profile.NotFound)) }},
		{"D8.3", "With a required part of the installation missing it exits 78 and writes no envelope.", "D8, 78", []need{needRead, needDamage}, func(b *bench) error {
			a, err := b.target.Damaged(b.ctx, Call{Args: machine(b.in(b.profile.Read))})
			if err != nil {
				return err
			}
			if a.Code != 78 || strings.TrimSpace(string(a.Stdout)) != "" {
				return fmt.Errorf("exit code %d with %d bytes on stdout", a.Code, len(a.Stdout))
			}
			return nil
		}},
	}
}

func oneObject(a Answer) error {
	if a.Err != nil {
		return fmt.Errorf("the executable could not be run: %w", a.Err)
	}
	var e object
	if err := json.Unmarshal(a.Stdout, &e); err != nil || e == nil {
		return fmt.Errorf("stdout is not exactly one JSON object")
	}
	return nil
}

func zero(a Answer) error {
	if a.Code != 0 {
		return fmt.Errorf("exit code %d with an envelope", a.Code)
	}
	return nil
}
