/**
 * Redirects what Node imports and requires of sandboxed libraries, for the process that is
 * started with `--import @sandbox-lsp/runtime/register`.
 */
export {};
