package proxygen

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/microsoft/typescript-go/shim/check"
)

// six are the libraries of the storefront fixture.
var six = []string{"date-fns", "dayjs", "lodash", "qs", "uuid", "zod"}

// storefront returns the fixture project's root, with its packages installed.
func storefront(t testing.TB) string {
	t.Helper()
	root, err := filepath.Abs("../testdata/projects/storefront")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "node_modules")); err != nil {
		t.Fatal("the storefront's packages are not installed; run `make deps`")
	}
	return root
}

var sixModels = sync.OnceValues(func() (map[string]*Model, error) {
	root, err := filepath.Abs("../testdata/projects/storefront")
	if err != nil {
		return nil, err
	}
	return Declarations(context.Background(), root, six)
})

// models returns the declarations of the storefront's libraries, read once.
func models(t testing.TB) map[string]*Model {
	t.Helper()
	storefront(t)
	m, err := sixModels()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func proxyFolder(root string) string { return filepath.Join(root, ".sandbox", "proxys") }

func TestDeclarations_ofRealLibraries(t *testing.T) {
	t.Parallel()
	root := storefront(t)
	m := models(t)
	for _, c := range []struct {
		request, entry string
		assign         bool
		exports        map[string]Kind
	}{
		{"lodash", "@types/lodash/index.d.ts", true, map[string]Kind{
			"default": KindCallable, "map": KindFunction, "bind": KindCallable, "VERSION": KindValue, "templateSettings": KindValue, "Dictionary": KindType,
		}},
		{"dayjs", "dayjs/index.d.ts", true, map[string]Kind{
			"default": KindCallable, "extend": KindFunction, "Dayjs": KindClass, "Ls": KindValue, "ConfigType": KindType,
		}},
		{"zod", "zod/index.d.cts", false, map[string]Kind{
			"string": KindFunction, "ZodString": KindClass, "z": KindNamespace, "core": KindNamespace, "default": KindNamespace, "infer": KindType,
		}},
		{"date-fns", "date-fns/index.d.ts", false, map[string]Kind{
			"format": KindFunction, "addDays": KindFunction, "FormatOptions": KindType,
		}},
		{"uuid", "uuid/dist/index.d.ts", false, map[string]Kind{"v4": KindFunction, "v5": KindCallable, "NIL": KindValue, "UUIDTypes": KindType}},
		{"qs", "@types/qs/index.d.ts", true, map[string]Kind{"default": KindNamespace, "parse": KindFunction, "ParsedQs": KindType}},
	} {
		model := m[c.request]
		if want := filepath.Join(root, "node_modules", filepath.FromSlash(c.entry)); model.Entry != want {
			t.Errorf("%s: entry %s, want %s", c.request, model.Entry, want)
		}
		if model.ExportAssign != c.assign {
			t.Errorf("%s: export = is %v", c.request, model.ExportAssign)
		}
		for name, kind := range c.exports {
			i := slices.IndexFunc(model.Exports, func(e Export) bool { return e.Name == name })
			if i < 0 {
				t.Errorf("%s: no export %s", c.request, name)
			} else if e := model.Exports[i]; e.Kind != kind || e.File == "" {
				t.Errorf("%s: %s is a %s declared in %q, want a %s", c.request, name, e.Kind, e.File, kind)
			}
		}
		for _, file := range []string{model.Entry, filepath.Join(root, "node_modules", c.request, "package.json")} {
			if !slices.Contains(model.Files, file) {
				t.Errorf("%s: the files do not have %s", c.request, file)
			}
		}
	}
}

func TestDeclarations_ofRealSubpaths(t *testing.T) {
	t.Parallel()
	m, err := Declarations(context.Background(), storefront(t), []string{"lodash/fp", "date-fns/locale"})
	if err != nil {
		t.Fatal(err)
	}
	for request, export := range map[string]string{"lodash/fp": "map", "date-fns/locale": "enGB"} {
		if !slices.ContainsFunc(m[request].Exports, func(e Export) bool { return e.Name == export && e.Kind != KindType }) {
			t.Errorf("%s has no %s", request, export)
		}
	}
}

// compile returns the errors of the files of a program that reads them from memory, as
// "file:line: TScode message", sorted.
func compile(root string, files map[string]string) []string {
	program := check.New(context.Background(), check.Options{Root: root, Files: files, Lib: true})
	defer program.Close()
	var out []string
	for file, content := range files {
		for _, d := range program.Diagnostics(context.Background(), program.File(file)) {
			line := strings.Count(content[:d.Pos], "\n") + 1
			out = append(out, fmt.Sprintf("%s:%d: TS%d %s", filepath.Base(file), line, d.Code, d.Message))
		}
	}
	slices.Sort(out)
	return out
}

// TestGenerate_keepsTypes compiles uses of every proxy. Lines marked "wrong" must be
// errors, all others must not.
func TestGenerate_keepsTypes(t *testing.T) {
	t.Parallel()
	m := models(t)
	for request, source := range map[string]string{
		"lodash": `
import _, { map, groupBy, type Dictionary } from "./proxys/lodash-proxy.js";
import * as all from "./proxys/lodash-proxy.js";
const a: string[] = map([1, 2], n => n.toFixed());
const b: Dictionary<number[]> = groupBy([1, 2], n => n % 2);
const c: number[] = _([1, 2]).map(n => n + 1).value();
let d: _.Dictionary<string>;
const e: string = _.VERSION + all.VERSION;
const f: string[] = map([1, 2], n => n); // wrong
_.nothing(); // wrong
all.disposeLibrary();
all.disposeLibrary(1); // wrong
`,
		"dayjs": `
import dayjs, { type Dayjs, type ConfigType, extend, isDayjs } from "./proxys/dayjs-proxy.js";
const a: Dayjs = dayjs("2020-01-01").add(1, "day");
const b: ConfigType = new Date();
const c: boolean = isDayjs(a);
let d: dayjs.UnitType = "day";
extend((option, Class, factory) => { Class.prototype; factory(); });
dayjs(Symbol()); // wrong
d = "fortnight"; // wrong
`,
		"zod": `
import { z, object, string, type ZodString } from "./proxys/zod-proxy.js";
import zod from "./proxys/zod-proxy.js";
const schema = object({ name: string(), age: z.number().optional() });
type Person = z.infer<typeof schema>;
const a: Person = { name: "x" };
const b: ZodString = zod.string();
const c: Person = { name: 1 }; // wrong
schema.parse(a).nothing; // wrong
`,
		"date-fns": `
import { format, addDays, type FormatOptions, type Interval } from "./proxys/date-fns-proxy.js";
const a: Date = addDays(new Date(), 1);
const b: string = format(a, "yyyy", {} satisfies FormatOptions);
let c: Interval;
addDays(a, "1"); // wrong
`,
		"uuid": `
import { v4, v5, NIL, type UUIDTypes } from "./proxys/uuid-proxy.js";
const a: string = v4();
const b: string = v5("x", v5.URL);
const c: UUIDTypes = NIL;
v5(1); // wrong
`,
		"qs": `
import qs, { parse, stringify, type ParsedQs, type IParseOptions } from "./proxys/qs-proxy.js";
const a: ParsedQs = parse("a=1");
const b: string = stringify({ a: 1 }) + qs.stringify({});
const c: IParseOptions = { depth: 2 };
let d: qs.ParsedQs;
parse(1); // wrong
`,
	} {
		t.Run(request, func(t *testing.T) {
			t.Parallel()
			output, err := Generate(Library{Request: request, Dir: proxyFolder(storefront(t)), Model: m[request]})
			if err != nil {
				t.Fatal(err)
			}
			root := filepath.ToSlash(storefront(t))
			messages := compile(root, map[string]string{
				root + "/.sandbox/use.ts":                                      source,
				root + "/.sandbox/proxys/" + FileName(request) + "-proxy.d.ts": string(output.DTS),
			})
			for i, line := range strings.Split(source, "\n") {
				at := fmt.Sprintf("use.ts:%d: ", i+1)
				wrong := slices.ContainsFunc(messages, func(m string) bool { return strings.HasPrefix(m, at) })
				if wrong != strings.Contains(line, "// wrong") {
					t.Errorf("line %d %q: an error is %v", i+1, line, wrong)
				}
				messages = slices.DeleteFunc(messages, func(m string) bool { return wrong && strings.HasPrefix(m, at) && strings.Contains(line, "// wrong") })
			}
			for _, m := range messages {
				t.Error(m)
			}
		})
	}
}

func BenchmarkDeclarations_ofSixLibraries(b *testing.B) {
	root := storefront(b)
	for b.Loop() {
		if _, err := Declarations(context.Background(), root, six); err != nil {
			b.Fatal(err)
		}
	}
}
