package quickjs

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goFiles calls use for each Go file of the repository.
func goFiles(t *testing.T, use func(path, source string)) {
	t.Helper()
	root := filepath.Join("..", "..")
	if _, err := os.Stat(filepath.Join(root, "go.mod")); err != nil {
		t.Fatal(err)
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(path) != ".go":
			return nil
		}
		source, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		use(filepath.ToSlash(rel), string(source))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestLint_onlyOneFileTakesFunctionsOutOfTheModule(t *testing.T) {
	const allowed = "runtime/quickjs/exports.go"
	seen := false
	goFiles(t, func(path, source string) {
		if !strings.Contains(source, ".Exported"+"Function(") {
			return
		}
		if path == allowed {
			seen = true
			return
		}
		t.Errorf("%s takes a function out of a wasm module: only %s may, since calling one again while it is active ends the process", path, allowed)
	})
	if !seen {
		t.Errorf("%s takes no function out of the module: the pattern of this test is stale", allowed)
	}
}

func TestLint_onlyOneFileTouchesLinearMemory(t *testing.T) {
	access := regexp.MustCompile(`\bmem\.mem\b|\.Memory\(\)\.|\.(Read|Write)(Byte|Uint(16|32|64)Le)\(`)
	goFiles(t, func(path, source string) {
		if !strings.HasPrefix(path, "runtime/quickjs/") || path == "runtime/quickjs/memory.go" {
			return
		}
		if hit := access.FindString(source); hit != "" && path != "runtime/quickjs/lint_test.go" {
			t.Errorf("%s has %q: views of guest memory end when it grows, so only memory.go may hold one", path, hit)
		}
	})
}

func TestLint_theSharedExportsAreTheOnesArguedFor(t *testing.T) {
	// A change here needs the argument of exports.go: the export ends without
	// calling an import.
	const want = `malloc free JS_DupValue JS_FreeValue JS_DupAtom JS_FreeAtom JS_FreeCString JS_FreeCStringUTF16 ` +
		`JS_GetException JS_HasException JS_Throw JS_IsUncatchableError JS_SetUncatchableError JS_SetConstructorBit ` +
		`JS_IsError JS_IsFunction JS_IsConstructor JS_IsArray JS_IsProxy JS_IsPromise JS_IsMap JS_IsSet JS_IsDate ` +
		`JS_IsRegExp JS_IsWeakRef JS_IsWeakMap JS_IsWeakSet JS_IsDataView JS_IsArrayBuffer JS_GetTypedArrayType JS_GetClassID ` +
		`JS_PromiseState JS_PromiseResult qjs_is_job_pending JS_GetGlobalObject ` +
		`qjs_get_runtime_ptr qjs_get_context_ptr qjs_get_allocated_size qjs_set_memory_limit qjs_set_max_stack_size ` +
		`qjs_set_interrupt_handler qjs_set_promise_rejection_handler qjs_set_module_loader qjs_set_runtime_and_context`
	if got := strings.Join(exportNames[:leafEnd], " "); got != want {
		t.Errorf("shared exports are\n%s", got)
	}
	for x := leafEnd + 1; x < exportEnd; x++ {
		if exportNames[x] == "" {
			t.Errorf("export %d has no name", x)
		}
	}
}

func TestLeafCall_refusesAnExportThatMayReachGuestCode(t *testing.T) {
	vm := newVM(t, VMOptions{})
	if _, err := vm.call(xCall); err == nil || vm.Dead() != nil {
		t.Errorf("error %v, dead of %v", err, vm.Dead())
	}
}
