import { describe, expect, it } from 'vitest';
import { createBoundedFetch, MAX_UNASKED_LINES, splitLines } from './bounds.ts';

const LARGEST = 1_000;

/** Returns how many bytes a bounded `fetch` reads of a response that is sent in many chunks. */
async function read(type: string, piece: string, pieces: number): Promise<number> {
  const bytes = new TextEncoder().encode(piece);
  let left = pieces;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      left -= 1;
      if (left < 0) controller.close();
      else controller.enqueue(bytes);
    },
  });
  const answer = new Response(body, { headers: { 'content-type': type } });
  const fetch = createBoundedFetch(async () => answer, LARGEST);
  const { length } = await (await fetch('http://mcp.test/')).text();
  return length;
}

const EVENT = 'data: {}\n\n';

describe('[D07] a response of an MCP server over HTTP', () => {
  it.each([
    ['a document within the bound', 'application/json', 'x'.repeat(10), 100, 1_000],
    ['a stream of many small events', 'text/event-stream', EVENT, 500, EVENT.length * 500],
  ])('is accepted: %s', async (_what, type, piece, pieces, length) => {
    expect(await read(type, piece, pieces)).toBe(length);
  });

  it.each([
    ['a document that is too long', 'application/json', 'x'.repeat(10), 101],
    ['an event that never ends', 'text/event-stream', 'x'.repeat(10), 101],
    ['events without end', 'text/event-stream', EVENT, Number.POSITIVE_INFINITY],
  ])('is aborted: %s', async (_what, type, piece, pieces) => {
    await expect(read(type, piece, pieces)).rejects.toThrow(/it sent more than \d+/);
  });
});

describe('[D07] the lines of an MCP server', () => {
  it('are counted since the last response, so that a verbose server may run forever', () => {
    const taken: string[] = [];
    const take = splitLines({ bytes: LARGEST, lines: 3 }, (line) => {
      taken.push(line);
      return line === 'answer';
    });
    expect(take(Buffer.from('log\nlog\nlog\nans'))).toBeNull();
    expect(take(Buffer.from('wer\nlog\nlog\nlog\n'))).toBeNull();
    expect(take(Buffer.from('one too many\nand never read\n'))).toBe('lines');
    expect(taken.at(-1)).toBe('one too many');
    expect(MAX_UNASKED_LINES).toBeGreaterThan(2_000);
  });
});
