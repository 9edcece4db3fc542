/** Turns what is known of answers into what is still to be written, so that nothing is shown twice. */
export interface AnswerPrinter {
  /** The answer of a turn so far; returns the finished blocks that were not written yet. */
  grow(turnId: string, text: string): string;
  /** A finished part; returns the rest of it, or '' when it was shown before. */
  finish(partId: string, turnId: string | null, text: string): string;
  /** Parts that were there before this terminal was opened. */
  skip(partId: string): void;
}

/** Makes a printer that has shown nothing yet. */
export function createAnswerPrinter(): AnswerPrinter {
  const shown = new Set<string>();
  const written = new Map<string, string>();
  return {
    grow(turnId, text) {
      const before = written.get(turnId) ?? '';
      // A block may still change its looks while it grows; one that is followed by another may not.
      const end = text.lastIndexOf('\n\n');
      const stable = end === -1 ? '' : text.slice(0, end + 2);
      if (stable.length <= before.length || !stable.startsWith(before)) return '';
      written.set(turnId, stable);
      return stable.slice(before.length);
    },
    finish(partId, turnId, text) {
      if (shown.has(partId)) return '';
      shown.add(partId);
      const before = (turnId && written.get(turnId)) || '';
      if (turnId) written.delete(turnId);
      if (text.startsWith(before)) return `${text.slice(before.length)}\n\n`;
      return `\n${text}\n\n`;
    },
    skip(partId) {
      shown.add(partId);
    },
  };
}
