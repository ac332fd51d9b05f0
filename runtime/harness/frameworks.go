package harness

// framework is a test framework whose files can be run.
type framework struct {
	name     string   // as the compatibility manifest has it
	module   string   // of the tool's own modules
	requests []string // that the module answers
	// isolated says that the framework itself runs each file in a realm of its own.
	isolated bool
}

var frameworks = []framework{
	{name: "tape", module: "tape", requests: []string{"tape"}},
	{name: "mocha", module: "mocha", requests: []string{"mocha"}},
	{name: "jest", module: "jest", requests: []string{"@jest/globals"}, isolated: true},
	{name: "vitest", module: "vitest", requests: []string{"vitest"}, isolated: true},
	{name: "node:test", module: "node-test", requests: []string{"test"}, isolated: true},
	{name: "qunit", module: "qunit", requests: []string{"qunit", "qunitjs"}},
	{name: "ava", module: "ava", requests: []string{"ava"}, isolated: true},
	{name: "assert", module: "assert", isolated: true},
}

func frameworkOf(name string) (framework, bool) {
	for _, f := range frameworks {
		if f.name == name {
			return f, true
		}
	}
	return framework{}, false
}
