const NOTHING = /^\s*(?:null|none|undefined|n\/a|nil)?\s*$/i;

/** Whether a value is what models write into a field that they do not mean to fill: null, `""`, `"none"`. */
export function isPlaceholder(value: unknown): boolean {
  return value === null || (typeof value === 'string' && NOTHING.test(value));
}
