/** Lines closer together than this were pasted, not typed; in ms. */
const PASTE_GAP_MS = 25;

/** Makes messages of lines: those of one paste belong together. */
export interface LineJoiner {
  line(text: string): void;
  /** The terminal says that a paste begins or ends. */
  pasting(on: boolean): void;
  /** Hands over at once what is held back. */
  flush(): void;
}

/**
 * Makes a joiner. A terminal that marks pastes is believed: all of it waits for the Enter that a
 * person presses after it. Else lines that come faster than anybody types are one message.
 */
export function createLineJoiner(deliver: (message: string) => void): LineJoiner {
  let held: string[] = [];
  let isPasting = false;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    clearTimeout(timer);
    if (held.length === 0) return;
    const message = held.join('\n');
    held = [];
    deliver(message);
  };
  return {
    line(text) {
      held.push(text);
      clearTimeout(timer);
      if (!isPasting) timer = setTimeout(flush, PASTE_GAP_MS);
    },
    pasting(on) {
      isPasting = on;
      if (on) clearTimeout(timer);
    },
    flush,
  };
}
