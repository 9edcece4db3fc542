/** Where a TOOLS.md wants the generated list (P06). */
const PLACEHOLDER = '{tools_description}';

/** The notes with the list in the place they have for it, or after the list where they have none. */
export function fillTools(notes: string, list: string): string {
  if (!notes.includes(PLACEHOLDER)) return `${list}\n\n${notes}`;
  // A function, because the words of a tool may hold what `replace` takes for a pattern.
  return notes.replaceAll(PLACEHOLDER, () => list);
}

/** The same notes where the list stands in a section of its own. */
export function pointToTools(notes: string): string {
  return notes.replaceAll(PLACEHOLDER, '(The list of your tools stands above.)');
}
