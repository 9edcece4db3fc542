/** The offered tool that a model refers to, or the reason why none was found. */
export type ToolNameResult =
  | { readonly kind: 'tool'; readonly name: string }
  | { readonly kind: 'unknown' }
  /** Several offered tools match the name when case and separators are ignored. */
  | { readonly kind: 'ambiguous'; readonly names: readonly string[] };

/** Namespaces that models put before the names of all tools; other prefixes belong to the name. */
const NAMESPACE = /^(?:functions?|default_api|tools?|mcp|api|assistant|namespace)(?:__|->|[./:])+/i;

/**
 * Finds the offered tool that a written name refers to: exactly, otherwise without spaces, quotes,
 * a general namespace and the number of the call, ignoring case and separators
 * (`functions.read-file:0` is `read_file`). Any other namespace remains part of the name, so that a
 * tool of one server is never mistaken for a tool of another.
 */
export function resolveToolName(written: string, offered: readonly string[]): ToolNameResult {
  if (offered.includes(written)) return { kind: 'tool', name: written };
  let name = trimToolName(written);
  for (;;) {
    if (offered.includes(name)) return { kind: 'tool', name };
    const folded = foldToolName(name);
    const names = folded === '' ? [] : offered.filter((one) => foldToolName(one) === folded);
    const [only] = names;
    if (names.length > 1) return { kind: 'ambiguous', names };
    if (only !== undefined) return { kind: 'tool', name: only };
    const shorter = name.replace(NAMESPACE, '');
    if (shorter === name) return { kind: 'unknown' };
    name = shorter;
  }
}

/**
 * Removes what surrounds names in some dialects: `"name"`, `name()`, `functions.name:0`,
 * `name<|channel|>commentary`.
 */
function trimToolName(written: string): string {
  return written
    .replace(/<[|｜].*$/s, '')
    .trim()
    .replace(/^[`'"“‘]+|[`'"”’]+$/g, '')
    .replace(/\(\s*\)$/, '')
    .replace(/:\d{1,3}$/, '')
    .trim();
}

/**
 * Keeps only letters and digits, so that `readFile`, `read-file` and `Read File` compare as equal.
 */
function foldToolName(name: string): string {
  return name.replace(/[^\p{L}\p{N}]+/gu, '').toLowerCase();
}
