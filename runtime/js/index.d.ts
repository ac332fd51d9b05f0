// <globals>
/** The host globals that are well known. Made from the catalogue of sandbox-lsp. */
export type HostGlobal =
  | "AbortController"
  | "AbortSignal"
  | "Accelerometer"
  | "AmbientLightSensor"
  | "Animation"
  | "Atomics"
  | "Audio"
  | "AudioContext"
  | "AudioDecoder"
  | "AudioEncoder"
  | "BarcodeDetector"
  | "Blob"
  | "BroadcastChannel"
  | "Buffer"
  | "ByteLengthQueuingStrategy"
  | "CSS"
  | "CSSStyleSheet"
  | "CanvasRenderingContext2D"
  | "Comment"
  | "CompressionStream"
  | "CountQueuingStrategy"
  | "Crypto"
  | "DOMMatrix"
  | "DOMMatrixReadOnly"
  | "DOMPoint"
  | "DOMPointReadOnly"
  | "DOMQuad"
  | "DOMRect"
  | "DOMRectReadOnly"
  | "DecompressionStream"
  | "DigitalCredential"
  | "DocumentFragment"
  | "EventSource"
  | "EventTarget"
  | "EyeDropper"
  | "FederatedCredential"
  | "File"
  | "FileReader"
  | "FileReaderSync"
  | "FontFace"
  | "FormData"
  | "GPU"
  | "Gyroscope"
  | "Headers"
  | "Highlight"
  | "IDBKeyRange"
  | "IdentityCredential"
  | "IdleDetector"
  | "Image"
  | "ImageCapture"
  | "ImageData"
  | "ImageDecoder"
  | "Intl"
  | "LanguageDetector"
  | "LanguageModel"
  | "Magnetometer"
  | "MediaRecorder"
  | "MediaStreamTrackProcessor"
  | "MessageChannel"
  | "MessagePort"
  | "NDEFReader"
  | "Navigator"
  | "NodeFilter"
  | "Notification"
  | "OfflineAudioContext"
  | "OffscreenCanvas"
  | "OffscreenCanvasRenderingContext2D"
  | "Option"
  | "PasswordCredential"
  | "Path2D"
  | "PaymentRequest"
  | "Performance"
  | "PerformanceObserver"
  | "PresentationRequest"
  | "PressureObserver"
  | "PublicKeyCredential"
  | "QuotaExceededError"
  | "RTCDataChannel"
  | "RTCPeerConnection"
  | "Range"
  | "ReportingObserver"
  | "Request"
  | "Response"
  | "SVGMatrix"
  | "SVGPoint"
  | "SVGRect"
  | "Scheduler"
  | "SharedWorker"
  | "SpeechRecognition"
  | "Storage"
  | "SubtleCrypto"
  | "Summarizer"
  | "Temporal"
  | "Text"
  | "TextDecoder"
  | "TextDecoderStream"
  | "TextEncoder"
  | "TextEncoderStream"
  | "Translator"
  | "URL"
  | "URLPattern"
  | "URLSearchParams"
  | "VideoDecoder"
  | "VideoEncoder"
  | "WebAssembly"
  | "WebGL2RenderingContext"
  | "WebGLRenderingContext"
  | "WebKitCSSMatrix"
  | "WebSocket"
  | "WebTransport"
  | "Window"
  | "Worker"
  | "WorkerNavigator"
  | "XMLHttpRequest"
  | "__dirname"
  | "__filename"
  | "addEventListener"
  | "alert"
  | "blur"
  | "browser"
  | "caches"
  | "cancelAnimationFrame"
  | "cancelIdleCallback"
  | "captureEvents"
  | "chrome"
  | "clearImmediate"
  | "clearInterval"
  | "clearTimeout"
  | "clientInformation"
  | "close"
  | "closed"
  | "confirm"
  | "console"
  | "cookieStore"
  | "createImageBitmap"
  | "crossOriginIsolated"
  | "crypto"
  | "customElements"
  | "devicePixelRatio"
  | "dispatchEvent"
  | "document"
  | "documentPictureInPicture"
  | "event"
  | "exports"
  | "external"
  | "fetch"
  | "find"
  | "focus"
  | "fonts"
  | "frameElement"
  | "frames"
  | "getComputedStyle"
  | "getScreenDetails"
  | "getSelection"
  | "global"
  | "history"
  | "importScripts"
  | "indexedDB"
  | "innerHeight"
  | "innerWidth"
  | "isSecureContext"
  | "launchQueue"
  | "length"
  | "localStorage"
  | "location"
  | "locationbar"
  | "matchMedia"
  | "menubar"
  | "module"
  | "moveBy"
  | "moveTo"
  | "name"
  | "navigation"
  | "navigator"
  | "open"
  | "opener"
  | "orientation"
  | "origin"
  | "originAgentCluster"
  | "outerHeight"
  | "outerWidth"
  | "pageXOffset"
  | "pageYOffset"
  | "parent"
  | "personalbar"
  | "postMessage"
  | "print"
  | "process"
  | "prompt"
  | "queryLocalFonts"
  | "releaseEvents"
  | "removeEventListener"
  | "reportError"
  | "requestAnimationFrame"
  | "requestIdleCallback"
  | "require"
  | "resizeBy"
  | "resizeTo"
  | "scheduler"
  | "screen"
  | "screenLeft"
  | "screenTop"
  | "screenX"
  | "screenY"
  | "scroll"
  | "scrollBy"
  | "scrollTo"
  | "scrollX"
  | "scrollY"
  | "scrollbars"
  | "self"
  | "sessionStorage"
  | "setImmediate"
  | "setInterval"
  | "setTimeout"
  | "sharedStorage"
  | "showDirectoryPicker"
  | "showOpenFilePicker"
  | "showSaveFilePicker"
  | "speechSynthesis"
  | "status"
  | "statusbar"
  | "stop"
  | "structuredClone"
  | "toolbar"
  | "top"
  | "trustedTypes"
  | "visualViewport"
  | "webkitAudioContext"
  | "webkitRTCPeerConnection"
  | "webkitRequestFileSystem"
  | "webkitSpeechRecognition"
  | "webkitURL"
  | "window";
// </globals>

/** The name of a host global. Those that are well known are proposed while typing. */
export type GlobalName = HostGlobal | (string & {});

/** A host global that a library may use: by name, or as an object that says more. */
export type Permission = GlobalName | Grant;

/** A permission that says more than a name. */
export interface Grant {
  name: GlobalName;
  /** What the grant is narrowed to: addresses for `fetch`, keys of a storage, members. */
  allow?: readonly string[];
  /** Why the library needs it, for whoever reviews the policy. */
  reason?: string;
  /** Who answers for it. */
  owner?: string;
  /** The last day on which it is meant to be valid, such as `"2027-01-31"`. */
  expires?: string;
}

/** Quotas. One that fires makes the sandbox dead. */
export interface Limits {
  /** The guest's heap in MiB, buffers included: a whole number from 1 to 2048, 64 when not given. */
  memoryMB?: number;
  /** Guest time of one outermost call in milliseconds; host callbacks do not count. */
  timeoutMs?: number;
  /** The guest's stack in KiB, at most 64 here. */
  stackKB?: number;
  /** The size budget of the library's bundle in KiB. A matter of the build. */
  bundleKB?: number;
}

/** An adapter that runs inside a library's sandbox. */
export interface Workload {
  /** Its JavaScript file, relative to the project root. */
  entry: string;
  /** The functions that its proxy exposes. */
  exports: string[];
}

/** The policy of one library. */
export interface LibraryPolicy {
  /** The host globals that it may use. `[]` grants none. */
  permissions: readonly Permission[];
  workloads?: Record<string, Workload>;
  /** Whether requests below the package that the application imports are redirected as well. */
  subpaths?: boolean;
  limits?: Limits;
  /** `"data"` refuses host functions and instances as arguments. */
  arguments?: "membrane" | "data";
  /** `"mirror"` copies plain results; `"live"` returns proxies of the guest's own objects. */
  results?: "mirror" | "live";
  /** Whether host data is read ahead in bulk. */
  reads?: "window" | "exact";
  /**
   * Whether an image of the heap is kept after the library has loaded, from which the next
   * sandbox goes on, and bytecode is written for the first.
   */
  snapshot?: boolean;
}

/** A policy: what each library may do, keyed by package request. */
export type SandboxConfig = Record<string, LibraryPolicy>;

/** Returns the policy as it is; it gives editors its type. */
export declare function defineConfig(config: SandboxConfig): SandboxConfig;

export interface SandboxOptions {
  permissions?: readonly Permission[];
  limits?: Limits;
  arguments?: "membrane" | "data";
  results?: "mirror" | "live";
  /** Where the value of a granted name comes from, instead of `globalThis[name]`. */
  capabilities?: Record<string, unknown>;
  /** `"exact"` asks the host for every property, as host proxies may want it. */
  reads?: "window" | "exact";
  /**
   * Is told, once a name, of each host global that the policy does not grant and whose
   * ReferenceError leaves the sandbox: thrown by a call or the load, as the reason of a
   * promise, or as a value or cause that the application is given. Not heard is what the
   * library only looks for (`typeof`, `in`, `globalThis.name`), what it catches, and what
   * becomes another error on the way. With `reportOnly`, each that the library took.
   */
  onViolation?: (violation: Violation) => void;
  /**
   * Grants a library whatever it asks for, and tells `onViolation`: for a policy that is
   * still being found out. It is no protection.
   */
  reportOnly?: boolean;
  /** Conversions of the application's own, asked in this order before those built in. */
  marshallers?: readonly Marshaller[];
  /**
   * Keeps an image of the sandbox's memory after the load, from which the next sandbox of the
   * same library under the same options goes on. None is kept when loading used what is
   * granted or drew from `Math.random`, or with `marshallers` or `reportOnly`: see
   * `stats().unkept`. What a library has read of the clock while loading stays as it was.
   */
  snapshot?: boolean;
  /** The SHA-256 hash of the only engine that it may run in, in hexadecimal. */
  engine?: string;
}

/** A host global that a library asked for and was not granted. */
export interface Violation {
  library: string;
  name: string;
  /** The code of the finding about it: `sandbox-lsp explain SBX014`. */
  code: string;
  /** Where in the library, as far as the engine says. */
  stack: string;
}

/**
 * Carries values of one kind over as something else. Both directions make a new value
 * each time; what has to stay itself is the marshaller's to remember.
 */
export interface Marshaller<Host = any> {
  /** Whether a value of the host's is of this kind. */
  isWrappable(value: unknown, context: MarshallerContext): boolean;
  /** What goes into the sandbox in its place: data, or an object of the sandbox's own. */
  marshal(value: Host, context: MarshallerContext): object;
  /**
   * Whether an object of the sandbox's is of this kind. The handle is a live proxy of it,
   * and what it says of itself is the library's word.
   */
  isHandleWrappable(handle: any, context: MarshallerContext): boolean;
  /** What comes out in its place. */
  unmarshal(handle: any, context: MarshallerContext): Host;
  /**
   * The sandbox is over. Called once. What it throws comes, in a SandboxError, to whoever
   * ended the sandbox, after everything is disposed of; where a limit did, that is its cause.
   */
  dispose(): void;
}

/** What a marshaller may need of the sandbox that it is asked for. */
export interface MarshallerContext {
  /**
   * Whether a handle is an instance of the class that the library exports at a path of
   * names. False while the library loads.
   */
  isInstance(handle: unknown, path: string | readonly string[]): boolean;
  /** Constructs that class in the sandbox. Throws while the library loads. */
  createInstance(path: string | readonly string[], args?: readonly unknown[]): any;
}

/**
 * One library in an engine of its own.
 *
 * Functions, classes, instances and host objects cross as live proxies. Values with
 * internal slots (Date, RegExp, Map, Set, errors, buffers, promises) are real objects on
 * both sides, brought up to date whenever they are in a message. Plain results are the
 * host's own objects, unless `results` is `"live"`.
 */
export interface Sandbox {
  /** What the library exports, as a live proxy. */
  readonly exports: any;
  /** An exported function. Throws a SandboxError when there is none of that name. */
  fn(name: string): (...args: any[]) => any;
  /** An exported class, whose instances live in the guest. */
  cls(name: string): new (...args: any[]) => any;
  /** The exports themselves when they can be called, else their default export. */
  callable(): any;
  /** An exported value, read now. */
  value(name: string): any;
  /** Constructs the class at a path of names, such as `"core.Node"`. */
  createInstance(path: string | readonly string[], args?: readonly unknown[]): any;
  /** Evaluates a workload beside the library, once per name, and returns its exports. */
  loadWorkload(name: string, code: string): any;
  /**
   * What a request below the library's exports, such as `lodash/fp`. The bundle has to hold
   * it, and shares its modules with the library.
   */
  subpath(request: string): Pick<Sandbox, "exports" | "fn" | "cls" | "callable" | "value">;
  /**
   * Takes back what crossed as a proxy: the given values (functions, instances, granted
   * globals), or all of it when none is given. With a granted global goes whatever the
   * guest came to by it. Mirrors are data already given.
   */
  revoke(...values: unknown[]): void;
  /**
   * Runs `body`, and lets go of what crossed from the guest while it ran. Its proxies
   * cannot be used afterwards; data stays, and so does what `body` returns.
   */
  scope<T>(body: () => T): T;
  /** Counts of what is alive on both sides and has crossed so far. */
  stats(): SandboxStats;
  /** Does nothing: a sandbox holds no process open. */
  unrefPump(): void;
  /** Frees the engine. Every later use of anything that came from it throws. */
  dispose(): void;
}

export interface SandboxStats {
  /** Calls of the guest that the host answered, traps included. */
  crossings: number;
  /** Properties and elements that were copied. */
  shipped: number;
  /** Results that came back after they had lost their originals. */
  unlinked: number;
  /** Host objects that the guest knows; `weak` of them only for as long as it keeps them. */
  exposed: number;
  weak: number;
  /** Guest objects that the host holds; `pins` of them for results that are data. */
  held: number;
  pins: number;
  /** Bytes of the guest's heap. */
  memoryBytes: number;
  /** Whether it went on from an image rather than evaluate the library. */
  restored: boolean;
  /** Why no image of it is kept, where `snapshot` asks for one. */
  unkept: string | undefined;
}

export declare const SandboxManager: {
  /**
   * Loads the engine. `wasm` says where from: in browsers `/dist/quickjs.wasm` when it
   * is not given. With `persist`, images (`snapshot`) that createSandbox makes from now on are
   * kept in the page's Cache Storage as well, where it has one. With `bytecode`, pages fetch
   * the bytecode that stands beside bundles: a first sandbox takes a third of the time then,
   * and about twice the bundle's bytes more.
   */
  ready(options?: { wasm?: string | URL | BufferSource | WebAssembly.Module; persist?: boolean; bytecode?: boolean }): Promise<void>;
  /**
   * Runs `code`, which assigns the library's exports to `__SANDBOXED_LIB__`, in a
   * sandbox of its own. Rejects with a SandboxError when it does not load.
   */
  createSandbox(name: string, code: string, options?: SandboxOptions): Promise<Sandbox>;
  /** The same at once; in browsers after `ready`. */
  createSandboxSync(name: string, code: string, options?: SandboxOptions): Sandbox;
};

/**
 * Reads a bundle's source text: from `node` on disk, or from `browser` over HTTP. Bytes with
 * another SHA-256 hash than `sha256`, in hexadecimal, are refused; so are those of the bytecode
 * beside it, of which `bytecode` is the hash. Bytecode that is missing is done without.
 */
export declare function loadBundle(from: { node: URL; browser: string; sha256?: string; bytecode?: string }): Promise<string>;

/** Anything that this package itself has to say. */
export declare class SandboxError extends Error {}

/**
 * A limit fired during this very call, or while its promise was waited for. The sandbox is
 * dead from now on.
 */
export declare class SandboxLimitError extends SandboxError {
  readonly limit: "memory" | "time" | "fault";
}

/** The sandbox died in an earlier call. */
export declare class SandboxDeadError extends SandboxError {
  readonly limit: "memory" | "time" | "fault";
}

/** The sandbox was disposed of. */
export declare class SandboxDisposedError extends SandboxError {}

/** The sandbox, or the value that was used, was taken back. */
export declare class SandboxRevokedError extends SandboxError {}
