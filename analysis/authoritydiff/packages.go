package authoritydiff

import (
	"strings"

	"github.com/sandbox-lsp/sandbox-lsp/analysis/lockfile"
	"github.com/sandbox-lsp/sandbox-lsp/policy/text"
)

// maxNamed bounds how many dependencies a sentence names.
const maxNamed = 8

// packages compares what the lockfile pins for the library and for all that its
// bundle may be made of.
func (c *comparison) packages(span text.Span) {
	before := byLocation(c.before.Lock.Closure(c.before.Folder, c.name))
	after := c.after.Lock.Closure(c.after.Folder, c.name)
	if len(before) == 0 || len(after) == 0 {
		return // one of the two lockfiles says nothing of it
	}
	library, _ := c.after.Lock.Find(c.after.Folder, c.name)
	var others []string
	seen := map[string]bool{}
	for _, p := range after {
		seen[p.Location] = true
		own := p.Location == library.Location
		q, was := before[p.Location]
		if q.Source != "" && p.Source != "" && q.Source != p.Source {
			effect := Changed // the hash says that it is the same
			if p.Integrity == "" || p.Integrity != q.Integrity {
				effect = Widened
			}
			c.add(effect, SourceChanged, p.Describe(), span, c.of(own)+"is taken from another place, {}: the lockfile named {} and names {}.", p.Describe(), q.Source, p.Source)
		}
		switch {
		case !was && own: // found elsewhere now
			old, _ := c.before.Lock.Find(c.before.Folder, c.name)
			if old.Version != p.Version {
				c.version(old, p, span)
			}
		case !was:
			news := p.Describe() + " is new"
			if p.Source != "" && !strings.HasPrefix(p.Source, "http") {
				news += ", from " + p.Source
			}
			others = append(others, news)
		case q.Version != p.Version && own:
			c.version(q, p, span)
		case q.Version != p.Version:
			others = append(others, p.Describe()+", before "+q.Version)
		case q.Integrity != "" && p.Integrity == "":
			c.add(Widened, IntegrityChanged, p.Describe(), span, c.of(own)+"is no longer pinned by its hash in the lockfile: any bytes may be installed as {}.", p.Describe())
		case q.Integrity != "" && q.Integrity != p.Integrity:
			c.add(Widened, IntegrityChanged, p.Describe(), span, c.of(own)+"has other bytes under the same version, {}: its hash in the lockfile was {} and is {}. A registry does not do that; find out who did.", p.Describe(), q.Integrity, p.Integrity).Alarm = true
		}
	}
	for _, q := range c.before.Lock.Closure(c.before.Folder, c.name) {
		old, _ := c.before.Lock.Find(c.before.Folder, c.name)
		if !seen[q.Location] && q.Location != old.Location {
			others = append(others, q.Describe()+" is gone")
		}
	}
	if len(others) == 0 {
		return
	}
	format, values := "may be bundled with other dependencies: ", others
	if len(values) > maxNamed {
		values = values[:maxNamed]
	}
	format += strings.TrimSuffix(strings.Repeat("{}; ", len(values)), "; ")
	if len(values) < len(others) {
		format += "; and more"
	}
	c.add(Changed, DependencyChanged, "", span, format+".", values...)
}

// of begins a sentence about the library itself, or about a package in its bundle.
func (c *comparison) of(own bool) string {
	if own {
		return ""
	}
	return "has a dependency that "
}

func (c *comparison) version(old, now lockfile.Package, span text.Span) {
	c.add(Changed, VersionChanged, "", span, "is version {}; at {} it was {}.", now.Version, c.revision, old.Version)
}

func byLocation(packages []lockfile.Package) map[string]lockfile.Package {
	m := map[string]lockfile.Package{}
	for _, p := range packages {
		m[p.Location] = p
	}
	return m
}
