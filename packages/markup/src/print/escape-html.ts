const ENTITY: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Escapes text for HTML content and double-quoted attributes, on the web and in Telegram. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITY[character] ?? character);
}

/** The language of a code block as a class name, or undefined if it is not a plain word. */
export function languageClass(language: string | undefined): string | undefined {
  if (language === undefined || !/^[\w+#.-]{1,40}$/.test(language)) return undefined;
  return `language-${language}`;
}
