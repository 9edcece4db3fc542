import { StringDecoder } from 'node:string_decoder';

/** Output as it is kept: its start and its end, however much there was. */
export interface EndsKeeper {
  add(chunk: Uint8Array): void;
  /** The text, with a line in its middle where something was left out. */
  text(): string;
}

/**
 * Keeps the first and the last half of `limit` characters, and never more in memory than that and one
 * chunk. What lies between is counted and told (P10). Bytes are read as UTF-8.
 */
export function keepEnds(limit: number): EndsKeeper {
  const half = Math.floor(limit / 2);
  const decoder = new StringDecoder('utf8');
  let head = '';
  let tail = '';
  let total = 0;
  const take = (text: string): void => {
    total += text.length;
    const room = half - head.length;
    head += text.slice(0, room);
    tail = (tail + text.slice(Math.max(room, 0))).slice(-half);
  };
  return {
    add: (chunk) => take(decoder.write(Buffer.from(chunk))),
    text() {
      take(decoder.end());
      const left = total - head.length - tail.length;
      if (left === 0) return (head + tail).toWellFormed();
      const notice = `[Cut: ${count(left)} of ${count(total)} characters of output are left out here.]`;
      return `${head}\n\n${notice}\n\n${tail}`.toWellFormed();
    },
  };
}

function count(characters: number): string {
  return characters.toLocaleString('en-US');
}
