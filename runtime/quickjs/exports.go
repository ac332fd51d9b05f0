package quickjs

import (
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// This file alone may call ExportedFunction. A wazero Function owns a native stack
// and must not be called while a call of it is active: doing so kills the process,
// beyond what recover can catch. Since any export that may reach guest code may
// also reach a host function, and that one may call the same export again, such
// exports are fetched once per crossing depth. Only exports that provably end
// without an import are shared, and those are listed in leafExports, each with the
// reason.

// export names a function of the module.
type export uint8

const (
	// Leaf exports.
	xMalloc export = iota
	xFree
	xDupValue
	xFreeValue
	xDupAtom
	xFreeAtom
	xFreeCString
	xFreeCStringUTF16
	xGetException
	xHasException
	xThrow
	xIsUncatchable
	xSetUncatchable
	xSetConstructorBit
	xIsError
	xIsFunction
	xIsConstructor
	xIsArray
	xIsProxy
	xIsPromise
	xIsMap
	xIsSet
	xIsDate
	xIsRegExp
	xIsWeakRef
	xIsWeakMap
	xIsWeakSet
	xIsDataView
	xIsArrayBuffer
	xTypedArrayType
	xClassID
	xPromiseState
	xPromiseResult
	xIsJobPending
	xGlobal
	xRuntimePtr
	xContextPtr
	xAllocatedSize
	xSetMemoryLimit
	xSetStackSize
	xSetInterrupt
	xSetRejection
	xSetModuleLoader
	xSetPointers
	leafEnd // everything below may reach guest code
	xInit
	xEval
	xCompile
	xBoxedNumber
	xCall
	xConstruct
	xConstructAs
	xNewHostFunction
	xNewObject
	xNewObjectProto
	xNewArray
	xNewArrayFrom
	xNewString
	xNewStringUTF16
	xNewAtom
	xNewAtomUint32
	xNewSymbol
	xNewBigInt64
	xNewBigUint64
	xNewDate
	xNewProxy
	xNewArrayBuffer
	xNewUint8Array
	xDetach
	xThrowOutOfMemory
	xNewPromise
	xNewPlainError
	xNewTypeError
	xNewRangeError
	xNewReferenceError
	xNewSyntaxError
	xNewInternalError
	xToCString
	xToCStringUTF16
	xToString
	xToNumber
	xToBool
	xValueToAtom
	xAtomToValue
	xGetProperty
	xGetPropertyUint32
	xSetProperty
	xDefineProperty
	xDefineValue
	xHasProperty
	xDeleteProperty
	xOwnNames
	xOwnProperty
	xFreePropertyEnum
	xGetPrototype
	xSetPrototype
	xIsExtensible
	xPreventExtensions
	xInstanceOf
	xStrictEqual
	xSameValue
	xProxyTarget
	xProxyHandler
	xClassName
	xArrayBuffer
	xTypedArrayBuffer
	xPromiseThen
	xPromiseHandled
	xExecuteJob
	xParseJSON
	xStringify
	xRunGC
	exportEnd
)

var exportNames = [exportEnd]string{
	// Allocation and reference counts. Freeing runs C finalizers only: what guest
	// code registers in a FinalizationRegistry is queued as a job.
	xMalloc: "malloc", xFree: "free",
	xDupValue: "JS_DupValue", xFreeValue: "JS_FreeValue", xDupAtom: "JS_DupAtom", xFreeAtom: "JS_FreeAtom",
	xFreeCString: "JS_FreeCString", xFreeCStringUTF16: "JS_FreeCStringUTF16",
	// The pending exception: reads and writes of one field.
	xGetException: "JS_GetException", xHasException: "JS_HasException", xThrow: "JS_Throw",
	xIsUncatchable: "JS_IsUncatchableError", xSetUncatchable: "JS_SetUncatchableError",
	// A bit of an object.
	xSetConstructorBit: "JS_SetConstructorBit",
	// Tests of an object's class. None looks at properties or calls a Proxy trap.
	xIsError: "JS_IsError", xIsFunction: "JS_IsFunction", xIsConstructor: "JS_IsConstructor",
	xIsArray: "JS_IsArray", xIsProxy: "JS_IsProxy", xIsPromise: "JS_IsPromise", xIsMap: "JS_IsMap",
	xIsSet: "JS_IsSet", xIsDate: "JS_IsDate", xIsRegExp: "JS_IsRegExp", xIsWeakRef: "JS_IsWeakRef",
	xIsWeakMap: "JS_IsWeakMap", xIsWeakSet: "JS_IsWeakSet", xIsDataView: "JS_IsDataView",
	xIsArrayBuffer: "JS_IsArrayBuffer", xTypedArrayType: "JS_GetTypedArrayType", xClassID: "JS_GetClassID",
	// Fields of a promise, of the job list and of the module's own state.
	xPromiseState: "JS_PromiseState", xPromiseResult: "JS_PromiseResult",
	xIsJobPending: "qjs_is_job_pending",
	xGlobal:       "JS_GetGlobalObject", xRuntimePtr: "qjs_get_runtime_ptr", xContextPtr: "qjs_get_context_ptr",
	xAllocatedSize: "qjs_get_allocated_size", xSetMemoryLimit: "qjs_set_memory_limit",
	xSetStackSize: "qjs_set_max_stack_size", xSetInterrupt: "qjs_set_interrupt_handler",
	xSetRejection: "qjs_set_promise_rejection_handler", xSetModuleLoader: "qjs_set_module_loader",
	xSetPointers: "qjs_set_runtime_and_context",

	// Everything from here on may reach guest code: evaluation and calls plainly,
	// property access and conversions through getters, traps and toString, and
	// whatever can fail through Error.prepareStackTrace.
	xInit: "qjs_init", xEval: "qjs_eval", xCompile: "qjs_compile", xBoxedNumber: "qjs_new_number",
	xCall: "JS_Call", xConstruct: "JS_CallConstructor", xConstructAs: "JS_CallConstructor2",
	xNewHostFunction: "qjs_new_host_function",
	xNewObject:       "JS_NewObject", xNewObjectProto: "JS_NewObjectProto",
	xNewArray: "JS_NewArray", xNewArrayFrom: "JS_NewArrayFrom",
	xNewString: "JS_NewStringLen", xNewStringUTF16: "JS_NewStringUTF16",
	xNewAtom: "JS_NewAtomLen", xNewAtomUint32: "JS_NewAtomUInt32", xNewSymbol: "JS_NewSymbol",
	xNewBigInt64: "JS_NewBigInt64", xNewBigUint64: "JS_NewBigUint64", xNewDate: "JS_NewDate",
	xNewProxy: "JS_NewProxy", xNewArrayBuffer: "JS_NewArrayBufferCopy", xNewUint8Array: "JS_NewUint8ArrayCopy",
	xDetach: "JS_DetachArrayBuffer", xThrowOutOfMemory: "JS_ThrowOutOfMemory",
	xNewPromise:    "JS_NewPromiseCapability",
	xNewPlainError: "JS_NewPlainError", xNewTypeError: "JS_NewTypeError", xNewRangeError: "JS_NewRangeError",
	xNewReferenceError: "JS_NewReferenceError", xNewSyntaxError: "JS_NewSyntaxError",
	xNewInternalError: "JS_NewInternalError",
	xToCString:        "JS_ToCStringLen2", xToCStringUTF16: "JS_ToCStringLenUTF16",
	xToString: "JS_ToString", xToNumber: "JS_ToNumber", xToBool: "JS_ToBool",
	xValueToAtom: "JS_ValueToAtom", xAtomToValue: "JS_AtomToValue",
	xGetProperty: "JS_GetProperty", xGetPropertyUint32: "JS_GetPropertyUint32", xSetProperty: "JS_SetProperty",
	xDefineProperty: "JS_DefineProperty", xDefineValue: "JS_DefinePropertyValue",
	xHasProperty: "JS_HasProperty", xDeleteProperty: "JS_DeleteProperty",
	xOwnNames: "JS_GetOwnPropertyNames", xOwnProperty: "JS_GetOwnProperty", xFreePropertyEnum: "JS_FreePropertyEnum",
	xGetPrototype: "JS_GetPrototype", xSetPrototype: "JS_SetPrototype",
	xIsExtensible: "JS_IsExtensible", xPreventExtensions: "JS_PreventExtensions",
	xInstanceOf: "JS_IsInstanceOf", xStrictEqual: "JS_IsStrictEqual", xSameValue: "JS_IsSameValue",
	xProxyTarget: "JS_GetProxyTarget", xProxyHandler: "JS_GetProxyHandler",
	xClassName: "JS_GetClassName", xArrayBuffer: "JS_GetArrayBuffer", xTypedArrayBuffer: "JS_GetTypedArrayBuffer",
	xPromiseThen: "JS_PromiseThen", xPromiseHandled: "JS_PromiseMarkAsHandled", // tells the rejection tracker
	xExecuteJob: "JS_ExecutePendingJob",
	xParseJSON:  "JS_ParseJSON", xStringify: "JS_JSONStringify", xRunGC: "qjs_run_gc",
}

// maxParams is the widest export's parameter count; call stacks have that size.
const maxParams = 8

// String returns the export's name in the module.
func (x export) String() string {
	if x < exportEnd {
		return exportNames[x]
	}
	return "?"
}

// leaf reports whether calls of x end without an import being called.
func (x export) leaf() bool { return x < leafEnd }

// callStack holds the parameters and the result of one call.
type callStack [maxParams]uint64

// exports hands out the functions of one instance.
type exports struct {
	mod    api.Module
	shared [leafEnd]api.Function
	pool   []*[exportEnd]api.Function // by depth
	stacks []*callStack               // by depth
	leaf   callStack
}

// checkExports reports the first export that mod lacks, so that another build of
// the engine is refused when it is opened and not in the middle of a call.
func checkExports(defs map[string]api.FunctionDefinition) error {
	for x, name := range exportNames {
		if name == "" {
			continue
		}
		def, ok := defs[name]
		if !ok {
			return fmt.Errorf("quickjs.wasm has no export %s: it is not the build this binary expects", name)
		}
		if len(def.ParamTypes()) > maxParams {
			return fmt.Errorf("quickjs.wasm export %s (%d) takes %d parameters", name, x, len(def.ParamTypes()))
		}
	}
	return nil
}

// sharedFunction returns the one Function of a leaf export.
func (e *exports) sharedFunction(x export) api.Function {
	f := e.shared[x]
	if f == nil {
		f = e.mod.ExportedFunction(exportNames[x])
		e.shared[x] = f
	}
	return f
}

// at returns the Function and the call stack of an export for a crossing depth.
func (e *exports) at(x export, depth int) (api.Function, *callStack) {
	for depth >= len(e.pool) {
		e.pool = append(e.pool, new([exportEnd]api.Function))
		e.stacks = append(e.stacks, new(callStack))
	}
	f := e.pool[depth][x]
	if f == nil {
		f = e.mod.ExportedFunction(exportNames[x])
		e.pool[depth][x] = f
	}
	return f, e.stacks[depth]
}
