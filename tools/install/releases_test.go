package install

import (
	"errors"
	"testing"
	"time"
)

func TestFindReleases(t *testing.T) {
	w := newWorld(t)
	pkg := w.agent.Install.NPM.Package
	w.registry.Time = map[string]map[string]any{pkg: {
		"created": "2026-01-01T00:00:00.000Z", "1.2.3": "2026-11-13T04:06:07.5+00:00", "1.2.4": "yesterday",
		"unpublished": map[string]any{"time": "2026-11-13T04:06:07Z"},
	}}
	w.publish()
	r, err := FindReleases(t.Context(), w.agent, w.opts)
	if err != nil {
		t.Fatal(err)
	}
	if want := time.Date(2026, 11, 13, 4, 6, 7, 5e8, time.UTC); !r.Published["1.2.3"].Equal(want) || len(r.Published) != 2 || r.Tags["latest"] == "" {
		t.Errorf("%+v", r)
	}
	w.registry.Fail = map[string]string{"view": "ENOTFOUND"}
	w.publish()
	if _, err := FindReleases(t.Context(), w.agent, w.opts); !errors.Is(err, ErrNetwork) {
		t.Errorf("without a network: %v", err)
	}
}
