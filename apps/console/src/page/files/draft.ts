/** A text that was typed and not saved when its page was left, and the file that it was made from. */
export interface Draft {
  readonly base: { readonly print: string | null; readonly text: string };
  readonly text: string;
}

/** Null: there is none, or none that can be read. */
export function draftOf(name: string): Draft | null {
  try {
    const [print, base, text]: unknown[] = JSON.parse(localStorage.getItem(draftKey(name)) ?? '[]');
    if (typeof base !== 'string' || typeof text !== 'string') return null;
    return { base: { print: typeof print === 'string' ? print : null, text: base }, text };
  } catch {
    return null;
  }
}

/** Null removes it. */
export function keepDraft(name: string, draft: Draft | null): void {
  try {
    if (draft === null) localStorage.removeItem(draftKey(name));
    else {
      const { base, text } = draft;
      localStorage.setItem(draftKey(name), JSON.stringify([base.print, base.text, text]));
    }
  } catch {
    // The storage is full, and the page is on its way out.
  }
}

function draftKey(name: string): string {
  return `parley.file.${name}`;
}
