/** Prefix of the storage keys for unsent text; the id of a chat or conversation follows. */
const DRAFT = 'parley.draft.';

/** The unsent text for a chat on this page or a conversation on another channel. */
export function readDraft(of: string): string {
  return localStorage.getItem(DRAFT + of) ?? '';
}

/** Keeps unsent text across reloads; empty text is removed. */
export function saveDraft(of: string, text: string): void {
  saveText(DRAFT + of, text);
}

/** Stores text in this browser, or removes its key if the text is empty. */
export function saveText(key: string, text: string): void {
  try {
    if (text === '') localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  } catch {
    // The text exceeds the browser's quota and will not survive a reload.
  }
}
