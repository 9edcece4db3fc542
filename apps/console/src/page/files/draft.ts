/**
 * Text that was typed but not saved when its page was left, and the version of the file it was
 * based on.
 */
export interface Draft {
  readonly base: { readonly print: string | null; readonly text: string };
  readonly text: string;
}

/** The draft of a file; null if there is none or it cannot be read. */
export function draftOf(name: string): Draft | null {
  try {
    const [print, base, text]: unknown[] = JSON.parse(localStorage.getItem(draftKey(name)) ?? '[]');
    if (typeof base !== 'string' || typeof text !== 'string') return null;
    return { base: { print: typeof print === 'string' ? print : null, text: base }, text };
  } catch {
    return null;
  }
}

/** Stores a draft; null removes it. */
export function keepDraft(name: string, draft: Draft | null): void {
  try {
    if (draft === null) localStorage.removeItem(draftKey(name));
    else {
      const { base, text } = draft;
      localStorage.setItem(draftKey(name), JSON.stringify([base.print, base.text, text]));
    }
  } catch {
    // The storage is full. The page is closing, so this cannot be reported.
  }
}

function draftKey(name: string): string {
  return `parley.file.${name}`;
}
