/**
 * Format characters that a list never needs (bidi marks, tag characters); joiners stay, because
 * emoji contain them.
 */
const INVISIBLE = /(?![\u200c\u200d])\p{Cf}/gu;
const BLANKS = /[\s\p{Cc}\p{Zl}\p{Zp}]+/gu;

/** Converts an author's text to a single line without invisible characters. */
export function cleanOneLine(text: string): string {
  return text.toWellFormed().replace(INVISIBLE, '').replace(BLANKS, ' ').trim();
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

/**
 * Escapes text for an XML element, so that its author can neither close the element nor open
 * another one.
 */
export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ESCAPES[character] ?? '');
}

/** A folder, and the text shown in its place to people and the model. */
export interface FolderAlias {
  readonly folder: string;
  readonly shown: string;
}

/**
 * Returns a path as people and the model see it, with the home folder written as `~` (S05). The
 * first matching folder is replaced.
 */
export function toDisplayPath(path: string, folders: readonly FolderAlias[]): string {
  const found = folders.find(({ folder }) => folder !== '/' && path.startsWith(`${folder}/`));
  return cleanOneLine(
    found === undefined ? path : `${found.shown}${path.slice(found.folder.length)}`,
  );
}
