package hostglobals

import "sync"

// sharedWithNode are the names of the web platform that Node 22 to 26 have as well,
// some of them behind a flag in the older ones.
const sharedWithNode = `
AbortController AbortSignal Blob BroadcastChannel ByteLengthQueuingStrategy CloseEvent
CompressionStream CountQueuingStrategy Crypto CryptoKey CustomEvent DOMException
DecompressionStream ErrorEvent Event EventSource EventTarget File FormData Headers
MessageChannel MessageEvent MessagePort Navigator Performance PerformanceEntry
PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList
PerformanceResourceTiming QuotaExceededError ReadableByteStreamController ReadableStream
ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController
ReadableStreamDefaultReader Request Response Storage SubtleCrypto TextDecoder
TextDecoderStream TextEncoder TextEncoderStream TransformStream
TransformStreamDefaultController URL URLPattern URLSearchParams WebAssembly WebSocket
WritableStream WritableStreamDefaultController WritableStreamDefaultWriter atob btoa
clearInterval clearTimeout console crypto fetch localStorage navigator performance
queueMicrotask sessionStorage setInterval setTimeout structuredClone
`

type ownGlobal struct {
	name   string
	realms Realms
	shape  Shape
	doc    string
}

// own are the globals that no embedded declaration file declares: Node's, those that
// only some browsers have, and what the language has without a declaration.
var own = []ownGlobal{
	{"globalThis", everywhere, Object, "The global object of the host."},
	{"undefined", everywhere, Value, "The value undefined."},

	// Node.
	{"Buffer", Node, Class, "Node's byte arrays, cut out of memory that the whole process shares."},
	{"__dirname", Node, Value, "The folder of the CommonJS module that runs."},
	{"__filename", Node, Value, "The path of the CommonJS module that runs."},
	{"clearImmediate", Node, Function, "Cancels what setImmediate scheduled."},
	{"exports", Node, Object, "What the CommonJS module that runs exports."},
	{"global", Node, Object, "The global object of Node."},
	{"module", Node, Object, "The CommonJS module that runs."},
	{"process", Node, Object, "The running Node process: its environment, its arguments, its exit, its built-in modules."},
	{"require", Node, Function, "Loads a CommonJS module, built-in ones included."},
	{"setImmediate", Node, Function, "Runs a function after the events that are waiting now."},

	// Browsers.
	{"QuotaExceededError", Window | Worker, Class, "The error of a request that asks for more storage than is left."},
	{"browser", Window | Worker, Object, "The API of browser extensions."},
	{"chrome", Window | Worker, Object, "The API of browser extensions, and of the browser itself, in Chromium."},
	{"trustedTypes", Window | Worker, Object, "Makes the policies that turn text into trusted HTML, scripts and script addresses."},
	{"TrustedHTML", Window | Worker, Class, "Text that a policy of the page trusts as HTML."},
	{"TrustedScript", Window | Worker, Class, "Text that a policy of the page trusts as a script."},
	{"TrustedScriptURL", Window | Worker, Class, "An address that a policy of the page trusts as that of a script."},
	{"TrustedTypePolicy", Window | Worker, Class, "A policy that makes trusted types."},
	{"Accelerometer", Window, Class, "Reads the acceleration of the device."},
	{"AmbientLightSensor", Window, Class, "Reads the light around the device."},
	{"BarcodeDetector", Window | Worker, Class, "Finds barcodes in images."},
	{"EyeDropper", Window, Class, "Lets the user pick a colour from anywhere on the screen."},
	{"Gyroscope", Window, Class, "Reads the rotation of the device."},
	{"IdleDetector", Window | Worker, Class, "Tells when the user is away."},
	{"LanguageDetector", Window, Class, "Detects the language of a text with the browser's model."},
	{"LanguageModel", Window, Class, "Prompts the browser's language model."},
	{"Magnetometer", Window, Class, "Reads the magnetic field around the device."},
	{"NDEFReader", Window, Class, "Reads and writes NFC tags."},
	{"PasswordCredential", Window, Class, "A user name and password that the browser keeps."},
	{"FederatedCredential", Window, Class, "A sign-in with another provider that the browser keeps."},
	{"IdentityCredential", Window, Class, "A sign-in with an identity provider."},
	{"PresentationRequest", Window, Class, "Shows a page on a second screen."},
	{"PressureObserver", Window | Worker, Class, "Watches the load of the processor."},
	{"SpeechRecognition", Window, Class, "Listens to the microphone and recognises speech."},
	{"Summarizer", Window, Class, "Summarises a text with the browser's model."},
	{"Translator", Window, Class, "Translates a text with the browser's model."},
	{"documentPictureInPicture", Window, Object, "Opens a window that stays on top, with a document of its own."},
	{"find", Window, Function, "Searches the page for a text and selects it."},
	{"getScreenDetails", Window, Function, "Describes every screen of the device."},
	{"launchQueue", Window, Object, "Receives the files that an installed application was opened with."},
	{"queryLocalFonts", Window, Function, "Lists the fonts that are installed on the device."},
	{"sharedStorage", Window, Object, "Storage that an origin shares across sites."},
	{"showDirectoryPicker", Window, Function, "Asks the user for a folder to read and write."},
	{"showOpenFilePicker", Window, Function, "Asks the user for files to read."},
	{"showSaveFilePicker", Window, Function, "Asks the user for a file to write."},
	{"webkitAudioContext", Window, Class, "An older name of AudioContext."},
	{"webkitRTCPeerConnection", Window, Class, "An older name of RTCPeerConnection."},
	{"webkitRequestFileSystem", Window, Function, "Opens a file system of the origin."},
	{"webkitSpeechRecognition", Window, Class, "Listens to the microphone and recognises speech, in Chromium."},
}

// docs say what a global is where the declaration files only give an address, or
// nothing.
var docs = map[string]string{
	"AggregateError":        "An error that stands for several.",
	"Array":                 "The class of arrays.",
	"AsyncDisposableStack":  "Collects what has to be released, also asynchronously.",
	"Atomics":               "Reads and writes shared memory in one step.",
	"Audio":                 "Makes an audio element.",
	"BigInt":                "Whole numbers of any size.",
	"Boolean":               "The class of booleans.",
	"CSSMathClamp":          "A clamp() expression of CSS.",
	"CSSStyleDeclaration":   "The CSS declarations of an element or a rule.",
	"DataView":              "Reads and writes numbers of any kind in a buffer.",
	"DisposableStack":       "Collects what has to be released.",
	"Error":                 "The class of errors.",
	"EvalError":             "An error class that nothing throws any more.",
	"External":              "The class behind external.",
	"FinalizationRegistry":  "Calls a function after an object was freed.",
	"HTMLCollection":        "A list of elements that follows the page.",
	"HTMLDirectoryElement":  "The class of the obsolete dir element.",
	"HTMLFrameElement":      "The class of the obsolete frame element.",
	"Image":                 "Makes an image element.",
	"Infinity":              "The number infinity.",
	"Intl":                  "Formats and compares numbers, dates and text by the rules of a language.",
	"Iterator":              "The class of iterators, with their helper methods.",
	"Map":                   "Values by key, of any kind, in the order in which they came.",
	"NaN":                   "The value that is not a number.",
	"NodeFilter":            "The constants of filters for nodes.",
	"Option":                "Makes an option element.",
	"Proxy":                 "An object whose operations a handler answers.",
	"RangeError":            "The error of a value out of its range.",
	"ReferenceError":        "The error of a name that does not exist.",
	"Reflect":               "The operations on objects as functions.",
	"RegExp":                "The class of regular expressions.",
	"Set":                   "Distinct values in the order in which they came.",
	"SharedArrayBuffer":     "Memory that several threads share.",
	"SuppressedError":       "An error that came while another one was handled.",
	"Symbol":                "Makes values that are equal to nothing else.",
	"SyntaxError":           "The error of a text that does not parse.",
	"Temporal":              "Dates, times, time zones and durations.",
	"TypeError":             "The error of a value of the wrong kind.",
	"URIError":              "The error of a malformed percent encoding.",
	"WeakMap":               "Values by object, kept only as long as the object is.",
	"WeakRef":               "A reference that does not keep its object.",
	"WeakSet":               "Objects, kept only as long as something else keeps them.",
	"WebAssembly":           "Compiles and runs WebAssembly modules.",
	"addEventListener":      "Listens to events of the window or the worker.",
	"atob":                  "Decodes base64.",
	"btoa":                  "Encodes in base64.",
	"cancelAnimationFrame":  "Cancels what requestAnimationFrame asked for.",
	"clearInterval":         "Stops a timer.",
	"clearTimeout":          "Stops a timer.",
	"createImageBitmap":     "Decodes an image.",
	"crossOriginIsolated":   "Whether the page is isolated from others, so that it may share memory.",
	"fetch":                 "Requests a resource over the network.",
	"isSecureContext":       "Whether the page came over a secure connection.",
	"name":                  "The name of the window, which stays when the window goes to another site.",
	"origin":                "The origin of the page.",
	"pageXOffset":           "How far the page is scrolled to the right.",
	"pageYOffset":           "How far the page is scrolled down.",
	"queueMicrotask":        "Runs a function after the current one.",
	"removeEventListener":   "Stops listening to events of the window or the worker.",
	"reportError":           "Raises an error as if nobody had caught it.",
	"requestAnimationFrame": "Runs a function before the next frame is drawn.",
	"setInterval":           "Runs a function again and again.",
	"setTimeout":            "Runs a function later.",
	"structuredClone":       "Copies a value with everything in it.",
	"toString":              "The method that the window has from Object.prototype.",
}

// ownTable is the table above by name.
var ownTable = sync.OnceValue(func() map[string]ownGlobal {
	all := make(map[string]ownGlobal, len(own))
	for _, o := range own {
		all[o.name] = o
	}
	return all
})
