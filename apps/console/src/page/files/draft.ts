/**
 * Text that was typed but not saved before its page was left, and the version of the file on which
 * it is based.
 */
export interface FileDraft {
  readonly base: { readonly print: string | null; readonly text: string };
  readonly text: string;
}

/** The draft of a file; null if there is none or it cannot be read. */
export function readDraft(name: string): FileDraft | null {
  try {
    const [print, base, text]: unknown[] = JSON.parse(
      localStorage.getItem(toDraftKey(name)) ?? '[]',
    );
    if (typeof base !== 'string' || typeof text !== 'string') return null;
    return { base: { print: typeof print === 'string' ? print : null, text: base }, text };
  } catch {
    return null;
  }
}

/** Stores a draft; null removes it. */
export function storeDraft(name: string, draft: FileDraft | null): void {
  try {
    if (draft === null) localStorage.removeItem(toDraftKey(name));
    else {
      const { base, text } = draft;
      localStorage.setItem(toDraftKey(name), JSON.stringify([base.print, base.text, text]));
    }
  } catch {
    // The browser's storage is full. The page is closing, so this cannot be reported.
  }
}

function toDraftKey(name: string): string {
  return `parley.file.${name}`;
}
