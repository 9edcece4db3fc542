/** Prefix of the storage keys of unsent texts; the id of a chat or conversation follows. */
const DRAFT = 'parley.draft.';

/** The unsent text of a chat of this page or of a conversation on another channel. */
export function readDraft(of: string): string {
  return localStorage.getItem(DRAFT + of) ?? '';
}

/** Keeps an unsent text across reloads; an empty one is removed. */
export function keepDraft(of: string, text: string): void {
  keepText(DRAFT + of, text);
}

/** Stores a text in this browser, or removes its key when it is empty. */
export function keepText(key: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // The text exceeds the browser's quota and will not survive a reload.
  }
}
