package bisect

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/compare"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
	"github.com/nexu-io/open-design-agent-contracts/tools/store"
)

// IncidentsPath is the place of the changes that broke somebody in public.
const IncidentsPath = "registry/incidents.json"

// rank orders signals by what they mean for a reader.
func rank(s compare.Signal) int {
	return slices.Index([]compare.Severity{compare.Info, compare.Warning, compare.Breaking}, s.Severity)
}

// LoadIncidents reads registry/incidents.json; a registry need not have it.
func LoadIncidents(reg *store.Registry) (*contract.Incidents, error) {
	f := &contract.Incidents{SchemaVersion: contract.SchemaVersion}
	if !reg.Exists(IncidentsPath) {
		return f, nil
	}
	return f, reg.ReadJSON(IncidentsPath, f)
}

// Finding is what the records say about an incident.
type Finding struct {
	contract.Incident
	// Found says that compare names the incident's signals and gives its
	// verdict. Why says what it gives instead.
	Found bool
	Why   string
	// Change is nil where the records lack a capture.
	Change *Change
}

// CheckIncidents holds the incidents that captures can show against the
// records.
func CheckIncidents(reg *store.Registry) ([]Finding, error) {
	list, err := LoadIncidents(reg)
	if err != nil {
		return nil, err
	}
	var file contract.AgentsFile
	if err := reg.ReadJSON(store.AgentsFile, &file); err != nil {
		return nil, err
	}
	families, err := reg.Families()
	if err != nil {
		return nil, err
	}
	d := &differ{reg: reg, families: families}
	var out []Finding
	for _, x := range list.Incidents {
		f := Finding{Incident: x}
		if x.Reason == "" {
			if err := d.find(&f, &file); err != nil {
				return nil, fmt.Errorf("incident %s: %w", x.ID, err)
			}
		}
		out = append(out, f)
	}
	return out, nil
}

func (d *differ) find(f *Finding, file *contract.AgentsFile) error {
	a, err := agents.Find(file, f.Agent)
	if err != nil {
		return err
	}
	const platform = contract.Platform("linux-x64") // where incidents are captured
	k, err := load(Options{Registry: d.reg, Agent: a, Platform: platform})
	if err != nil {
		return err
	}
	t := Track{f.Probe, f.Profile}
	from, to := k.newest(f.From, t), k.newest(f.To, t)
	if from == nil || to == nil {
		f.Why = "not captured"
		return nil
	}
	if f.Change, err = d.change(from, to); err != nil {
		return err
	}
	var missing []string
	for _, want := range f.Signals {
		if !slices.ContainsFunc(f.Change.Signals, func(s compare.Signal) bool { return s.String() == want }) {
			missing = append(missing, want)
		}
	}
	switch {
	case f.Change.Reader != f.Verdict:
		f.Why = fmt.Sprintf("the verdict is %s", f.Change.Reader)
	case len(missing) > 0:
		f.Why = "without " + strings.Join(missing, ", ")
	default:
		f.Found = true
	}
	return nil
}

func (h *history) incidentTable(p *page) error {
	found, err := CheckIncidents(h.reg)
	if err != nil || len(found) == 0 {
		return err
	}
	p.heading(2, "Incidents")
	p.printf("Changes that broke somebody in public, and what the captures say. The expected signals stand in\n`%s`; the rest of what `compare` names is in the tables below.\n\n", IncidentsPath)
	rows := [][]string{{"what changed", "broke", "captures", "found", "for a reader", "for the consumer", "named"}}
	for _, f := range found {
		where, result, reader, consumer, named := "", "no capture shows it: "+f.Reason, "", "", ""
		if f.Reason == "" {
			where, result = fmt.Sprintf("%s %s → %s, %s", f.Agent, f.From, f.To, Track{f.Probe, f.Profile}), "**not found**: "+f.Why
			if f.Found {
				result = "yes"
			}
			if f.Found && f.Verdict == contract.VerdictSameShape {
				result = "no change between these captures"
			}
			if f.Note != "" {
				result += ": " + f.Note
			}
		}
		if f.Change != nil {
			reader, consumer, named = verdictWord(f.Change.Reader), verdictWord(f.Change.Verdict), "`"+signals(f.Change.Signals, 6)+"`"
		}
		rows = append(rows, []string{fmt.Sprintf("[%s](%s)", f.What, f.Source[0]), f.Broke, where, result, reader, consumer, named})
	}
	p.rows(rows)
	return nil
}

// sizeFolders are the folders whose files belong to observations.
var sizeFolders = []string{"observations", "evidence", "errors", "shapes", "fixtures", "goldens"}

// sizes says how much an observation costs in files.
func (h *history) sizes(p *page) error {
	total, files, versions := 0, 0, map[string]bool{}
	rows := [][]string{{"folder", "files", "kB", "bytes an observation"}}
	all, err := h.reg.Walk("observations", "")
	if err != nil || len(all) == 0 {
		return err
	}
	observations, said := len(all), fmt.Sprintf("%d observations", len(all))
	withdrawn := observations
	for _, n := range h.counted {
		withdrawn -= n
	}
	if withdrawn > 0 {
		said += fmt.Sprintf(", of which %d were withdrawn and count no more,", withdrawn)
	}
	for _, folder := range sizeFolders {
		list, err := h.reg.Walk(folder, "")
		if err != nil {
			return err
		}
		bytes := 0
		for _, f := range list {
			info, err := fs.Stat(h.reg.FS(), f)
			if err != nil {
				return fmt.Errorf("measuring %s: %w", f, err)
			}
			bytes += int(info.Size())
			if parts := strings.Split(f, "/"); folder == "observations" && len(parts) > 3 {
				versions[parts[1]+"@"+parts[2]] = true
			}
		}
		rows = append(rows, []string{folder, fmt.Sprint(len(list)), fmt.Sprint(bytes >> 10), fmt.Sprint(bytes / observations)})
		total, files = total+bytes, files+len(list)
	}
	rows = append(rows, []string{"all", fmt.Sprint(files), fmt.Sprint(total >> 10), fmt.Sprint(total / observations)})
	p.heading(2, "Size")
	p.printf("%s of %d releases.\n\n", said, len(versions))
	p.rows(rows)
	return nil
}
