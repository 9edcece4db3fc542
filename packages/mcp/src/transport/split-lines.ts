/** Takes bytes as they come and gives whole lines. */
export interface LineSplitter {
  /** False when a line is longer than it may be; nothing is taken any more then. */
  take(chunk: Buffer): boolean;
}

/** Puts lines together from pieces, at most `limit` bytes each; pieces are joined once per line. */
export function splitLines(limit: number, onLine: (line: string) => void): LineSplitter {
  let pieces: Buffer[] = [];
  let size = 0;
  let isOver = false;
  const end = (): void => {
    const line = Buffer.concat(pieces).toString('utf8').trim();
    pieces = [];
    size = 0;
    if (line !== '') onLine(line);
  };
  return {
    take(chunk) {
      let rest = chunk;
      while (!isOver && rest.length > 0) {
        const at = rest.indexOf(0x0a);
        const piece = at === -1 ? rest : rest.subarray(0, at);
        size += piece.length;
        isOver = size > limit;
        if (isOver) pieces = [];
        else pieces.push(piece);
        if (at === -1) break;
        rest = rest.subarray(at + 1);
        if (!isOver) end();
      }
      return !isOver;
    },
  };
}
