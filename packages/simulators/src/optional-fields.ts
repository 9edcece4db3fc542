/** How a platform sends optional fields: with a value, as null, or not at all. */
export const OPTIONAL = ['present', 'null', 'absent'] as const;
export type OptionalFieldMode = (typeof OPTIONAL)[number];

/**
 * Returns a copy of a document that sends the fields with these names, at any depth, in the given
 * form; fields in `neverNull` are omitted instead of set to null.
 */
export function applyOptionalFields(
  how: OptionalFieldMode,
  names: ReadonlySet<string>,
  document: unknown,
  neverNull: ReadonlySet<string> = new Set(),
): unknown {
  if (how === 'present' || typeof document !== 'object' || document === null) return document;
  const inner = (value: unknown) => applyOptionalFields(how, names, value, neverNull);
  if (Array.isArray(document)) return document.map(inner);
  const fields = Object.entries(document).flatMap(([name, value]) => {
    if (neverNull.has(name)) return [];
    if (!names.has(name)) return [[name, inner(value)]];
    return how === 'null' ? [[name, null]] : [];
  });
  return Object.fromEntries(fields);
}
