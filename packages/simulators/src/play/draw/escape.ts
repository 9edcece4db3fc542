const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Text for the page's HTML, also inside attributes. */
export function escapeText(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => REFERENCES[character] ?? character);
}
