const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Escapes text for the page's HTML, including attributes. */
export function escapeText(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => REFERENCES[character] ?? character);
}
