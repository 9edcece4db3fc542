/** How a platform sends what it calls optional: with a value, as null, or not at all. */
export const OPTIONAL = ['present', 'null', 'absent'] as const;
export type Optional = (typeof OPTIONAL)[number];

/** A document with fields of these names, wherever they are in it, sent that way. */
export function sentWith(how: Optional, names: ReadonlySet<string>, document: unknown): unknown {
  if (how === 'present' || typeof document !== 'object' || document === null) return document;
  if (Array.isArray(document)) return document.map((item) => sentWith(how, names, item));
  const fields = Object.entries(document).flatMap(([name, value]) => {
    if (!names.has(name)) return [[name, sentWith(how, names, value)]];
    return how === 'null' ? [[name, null]] : [];
  });
  return Object.fromEntries(fields);
}
