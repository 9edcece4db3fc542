/** Lines closer together than this were pasted, not typed; in ms. */
const PASTE_GAP_MS = 25;

/** Makes one message of the lines of a paste. */
export function joinBursts(deliver: (message: string) => unknown): (line: string) => void {
  let lines: string[] = [];
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    const message = lines.join('\n');
    lines = [];
    deliver(message);
  };
  return (line) => {
    lines.push(line);
    clearTimeout(timer);
    timer = setTimeout(flush, PASTE_GAP_MS);
  };
}
