const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Escapes text for HTML, including attribute values. */
export function escapeText(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => REFERENCES[character] ?? character);
}
