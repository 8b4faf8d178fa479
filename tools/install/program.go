package install

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/nexu-io/open-design-agent-contracts/tools/agents"
	"github.com/nexu-io/open-design-agent-contracts/tools/contract"
)

// program is the file that decides what an agent does: its executable, or the
// JavaScript that its npm command runs.
type program struct {
	file     string
	launcher string
	// module is the key of the program's package in npm's lock file.
	module string
}

// packageFor returns the installation under the package name that the release
// was published with.
func packageFor(n *contract.NPMInstall, version string) *contract.NPMInstall {
	v, err := agents.ParseToken(&contract.Agent{}, version)
	if err != nil {
		return n
	}
	for _, e := range n.Earlier {
		if in, err := v.In(e.Versions); err == nil && in {
			earlier := *n
			earlier.Package, earlier.Bin = e.Package, e.Bin
			return &earlier
		}
	}
	return n
}

// nativeFor returns the rule for the release's native program, or nil.
func nativeFor(n *contract.NPMInstall, version string) *contract.NativeBinary {
	v, err := agents.ParseToken(&contract.Agent{}, version)
	if err != nil {
		return nil
	}
	for i := range n.Native {
		if in, err := v.In(n.Native[i].Versions); err == nil && in {
			return &n.Native[i]
		}
	}
	return nil
}

// expand fills in the variables of native paths and platform packages.
func expand(n *contract.NPMInstall, text, version string) string {
	platform, exe := contract.HostPlatform(), ""
	if runtime.GOOS == "windows" {
		exe = ".exe"
	}
	return strings.NewReplacer("{platform}", string(platform), "{triple}", n.Triples[platform], "{exe}", exe, "{version}", version).Replace(text)
}

// findProgram looks below node_modules for what the definition names. Its
// error is ErrNoBinary.
func findProgram(n *contract.NPMInstall, version, modules string) (program, error) {
	if native := nativeFor(n, version); native != nil {
		rel := expand(n, native.Path, version)
		file := filepath.Join(modules, filepath.FromSlash(rel))
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			return program{}, fmt.Errorf("the package of %s has no %s for %s; use a release that has one, or --bin: %w", version, filepath.Base(rel), contract.HostPlatform(), ErrNoBinary)
		}
		return program{file: file, launcher: LauncherNative, module: moduleKey(rel)}, nil
	}
	root := filepath.Join(modules, filepath.FromSlash(n.Package))
	entry, err := entryPoint(root, n.Bin)
	if err != nil {
		return program{}, err
	}
	p := program{file: filepath.Join(root, filepath.FromSlash(entry)), launcher: LauncherNPMWrapper, module: "node_modules/" + n.Package}
	if info, err := os.Stat(p.file); err != nil || !info.Mode().IsRegular() {
		return program{}, fmt.Errorf("package.json of %s names %s, which the package does not hold: %w", n.Package, entry, ErrNoBinary)
	}
	return p, nil
}

// moduleKey returns node_modules/<package> for a path below node_modules.
func moduleKey(rel string) string {
	parts := strings.SplitN(rel, "/", 3)
	if strings.HasPrefix(rel, "@") && len(parts) > 1 {
		return "node_modules/" + parts[0] + "/" + parts[1]
	}
	return "node_modules/" + parts[0]
}

// packageJSON is what we need of an installed package.
type packageJSON struct {
	Bin     json.RawMessage `json:"bin"` // a path, or paths by command
	Engines struct {
		Node string `json:"node"`
	} `json:"engines"`
}

func readPackageJSON(root string) (packageJSON, error) {
	var p packageJSON
	b, err := os.ReadFile(filepath.Join(root, "package.json"))
	if err != nil {
		return p, fmt.Errorf("reading the package's package.json: %w: %w", err, ErrNoBinary)
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return p, fmt.Errorf("reading the package's package.json: %w: %w", err, ErrNoBinary)
	}
	return p, nil
}

func entryPoint(root, bin string) (string, error) {
	p, err := readPackageJSON(root)
	if err != nil {
		return "", err
	}
	var one string
	var many map[string]string
	if json.Unmarshal(p.Bin, &one) != nil {
		_ = json.Unmarshal(p.Bin, &many) // neither form: no entry, reported below
		one = many[bin]
	}
	if one == "" || !filepath.IsLocal(filepath.FromSlash(one)) {
		return "", fmt.Errorf("package.json has no usable command %q: %w", bin, ErrNoBinary)
	}
	return one, nil
}

// Binary describes an installed program that the user names (--bin): an
// executable, or a script with its own interpreter line.
func Binary(agent *contract.Agent, path string) (*Installed, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("using the program %s: %w", path, err)
	}
	info, err := os.Stat(abs)
	switch {
	case err != nil:
		return nil, fmt.Errorf("using the program %s: it cannot be read (%w); check --bin: %w", path, err, ErrNoBinary)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("using the program %s: it is not a file; name the program itself with --bin: %w", path, ErrNoBinary)
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return nil, fmt.Errorf("using the program %s: it is not executable; chmod +x it: %w", path, ErrNoBinary)
	}
	sum, err := hashFile(abs)
	if err != nil {
		return nil, fmt.Errorf("using the program %s: %w: %w", path, err, ErrNoBinary)
	}
	got := &Installed{Agent: agent.ID, Dir: filepath.Dir(abs), Path: abs, Launcher: LauncherNative, Source: "binary:" + filepath.Base(abs), BinarySHA256: sum}
	if isNodeScript(abs) {
		got.Launcher = LauncherNPMWrapper
	}
	return got, nil
}

// isNodeScript reports whether the interpreter line names node.
func isNodeScript(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 128)
	n, _ := io.ReadFull(f, head)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	rest, ok := strings.CutPrefix(line, "#!")
	return ok && slices.ContainsFunc(strings.Fields(rest), func(word string) bool { return filepath.Base(word) == "node" })
}

func hashFile(path string) (contract.Digest, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return contract.Digest("sha256:" + hex.EncodeToString(h.Sum(nil))), nil
}
