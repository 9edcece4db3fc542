/** The whole message with which the agent says nothing (G09). */
export const SILENT_TOKEN = 'NO_REPLY';

/** Whether an answer says that nothing is to be said: the token and nothing else. */
export function isSilent(answer: string): boolean {
  return answer.trim() === SILENT_TOKEN;
}

/**
 * Passes a growing text on, but not while it may still become the silent token: nobody must see it
 * appear and vanish again.
 */
export function holdBackSilence(pass: (text: string) => void): (text: string) => void {
  let held: string | null = '';
  return (text) => {
    if (held === null) return pass(text);
    held += text;
    if (SILENT_TOKEN.startsWith(held.trim())) return;
    pass(held);
    held = null;
  };
}
