import { describe, expect, it } from 'vitest';
import { createEventJoiner } from './http-fetch.ts';

const data = (event: object) => `data: ${JSON.stringify(event)}\n\n`;
const block = (delta: object, index = 0) =>
  `event: content_block_delta\n${data({ type: 'content_block_delta', index, delta })}`;
const said = (text: string, index = 0) => block({ type: 'text_delta', text }, index);
const thought = (thinking: string) => block({ type: 'thinking_delta', thinking });

/** The output for chunks that arrive one after another. */
function joined(...pieces: readonly (string | Buffer)[]): string {
  const join = createEventJoiner();
  return Buffer.concat(pieces.map((piece) => join(Buffer.from(piece)))).toString();
}

describe('[G01] text fragments that arrived together', () => {
  it.each([
    ['text', said('a') + said('b'), said('ab')],
    ['thoughts, then text', thought('a') + thought('b') + said('c'), thought('ab') + said('c')],
    [
      'a server that writes blanks',
      'data: {"index": 0, "delta": {"type": "text_delta", "text": "a"}}\n\ndata: {"index": 0, "delta": {"type": "text_delta", "text": "b"}}\n\n',
      'data: {"index": 0, "delta": {"type": "text_delta", "text": "ab"}}\n\n',
    ],
    [
      'text that JSON escapes',
      said('say "a\\') + said('\n"delta":{"text":"x"}'),
      said('say "a\\\n"delta":{"text":"x"}'),
    ],
    [
      'an answer with a beginning and an end',
      `${data({ type: 'message_start' })}${said('é')}${said('你')}${data({ type: 'message_stop' })}`,
      `${data({ type: 'message_start' })}${said('é你')}${data({ type: 'message_stop' })}`,
    ],
  ])('are merged into one event: %s', (_name, events, expected) => {
    expect(joined(events)).toBe(expected);
  });

  it.each([
    ['arguments', block({ type: 'input_json_delta', partial_json: '{' }).repeat(2)],
    ['pieces of other blocks', said('a', 0) + said('b', 1)],
    ['events in CRLF', said('a').repeat(2).replaceAll('\n', '\r\n')],
    ['comments', `: ping\n\n${said('a')}: ping\n\n${said('a')}`],
    ['no JSON', 'data: {"delta":{"type":"text_delta","text":"\n\ndata: <html>\n\n'],
  ])('remain unchanged: %s', (_name, events) => {
    expect(joined(events)).toBe(events);
  });

  it('are never mixed up with a partial event', () => {
    const events = said('é').repeat(4);
    const bytes = Buffer.from(events);
    for (let at = 0; at <= bytes.length; at += 1) {
      const text = joined(bytes.subarray(0, at), bytes.subarray(at))
        .split('\n\n')
        .filter((event) => event !== '')
        .map((event) => JSON.parse(event.slice(event.indexOf('{'))).delta.text);
      expect(text.join('')).toBe('éééé');
    }
  });
});
