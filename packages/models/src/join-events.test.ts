import { describe, expect, it } from 'vitest';
import { eventJoiner } from './http-fetch.ts';

const data = (event: object) => `data: ${JSON.stringify(event)}\n\n`;
const chat = (delta: object, more: object = {}) =>
  data({ id: 'c1', choices: [{ index: 0, delta, finish_reason: null }], ...more });
const end = (finish_reason: string, id = 'c1') =>
  data({ id, choices: [{ index: 0, delta: {}, finish_reason }] });
const block = (delta: object) =>
  `event: content_block_delta\n${data({ type: 'content_block_delta', index: 0, delta })}`;

/** What comes out of pieces that arrive one after another. */
function joined(...pieces: readonly (string | Buffer)[]): string {
  const join = eventJoiner();
  return Buffer.concat(pieces.map((piece) => join(Buffer.from(piece)))).toString();
}

describe('[G01] pieces of text that arrived together', () => {
  it.each([
    ['OpenAI', chat({ content: 'a' }) + chat({ content: 'b' }), chat({ content: 'ab' })],
    [
      'Ollama',
      chat({ role: 'assistant', content: 'a' }) + chat({ role: 'assistant', content: 'b' }),
      chat({ role: 'assistant', content: 'ab' }),
    ],
    [
      'DeepSeek',
      chat({ content: null, reasoning_content: 'a' }) +
        chat({ content: null, reasoning_content: 'b' }) +
        chat({ content: 'c', reasoning_content: null }) +
        chat({ content: 'd', reasoning_content: null }),
      chat({ content: null, reasoning_content: 'ab' }) +
        chat({ content: 'cd', reasoning_content: null }),
    ],
    [
      'Anthropic',
      block({ type: 'text_delta', text: 'a' }) + block({ type: 'text_delta', text: 'b' }),
      block({ type: 'text_delta', text: 'ab' }),
    ],
    [
      'a server that writes blanks',
      'data: {"choices": [{"delta": {"content": "a"}}]}\n\ndata: {"choices": [{"delta": {"content": "b"}}]}\n\n',
      'data: {"choices": [{"delta": {"content": "ab"}}]}\n\n',
    ],
    [
      'text that JSON escapes',
      chat({ content: 'say "a\\' }) + chat({ content: '\n"delta":{"content":"x"}' }),
      chat({ content: 'say "a\\\n"delta":{"content":"x"}' }),
    ],
    [
      'a role that is named once',
      chat({ role: 'assistant', content: '' }) + chat({ content: 'a' }) + chat({ content: 'b' }),
      chat({ role: 'assistant', content: 'ab' }),
    ],
    [
      'a text and why it ends',
      `${chat({ content: 'a' })}${end('stop')}${end('stop')}data: [DONE]\n\n`,
      `${data({ id: 'c1', choices: [{ index: 0, delta: { content: 'a' }, finish_reason: 'stop' }] })}${end('stop')}data: [DONE]\n\n`,
    ],
    [
      'an answer with a beginning and an end',
      `${chat({ role: 'assistant' })}${chat({ content: 'é' })}${chat({ content: '你' })}data: [DONE]\n\n`,
      `${chat({ role: 'assistant' })}${chat({ content: 'é你' })}data: [DONE]\n\n`,
    ],
  ])('become one: %s', (_name, events, expected) => {
    expect(joined(events)).toBe(expected);
  });

  it.each([
    [
      'calls of tools',
      chat({ content: '', tool_calls: [{ index: 0, function: { arguments: 'a' } }] }).repeat(2),
    ],
    ['text beside thoughts', chat({ reasoning: 'hm', content: 'a' }).repeat(2)],
    [
      'several answers',
      data({ choices: [{ delta: { content: 'a' } }, { delta: { content: 'b' } }] }).repeat(2),
    ],
    ['parts of other answers', chat({ content: 'a' }) + chat({ content: 'a' }, { id: 'c2' })],
    ['events in CRLF', chat({ content: 'a' }).repeat(2).replaceAll('\n', '\r\n')],
    ['comments', `: ping\n\n${chat({ content: 'a' })}: ping\n\n${chat({ content: 'a' })}`],
    ['the end of another answer', chat({ content: 'a' }) + end('stop', 'c2')],
    [
      'the end of a thought',
      chat({ reasoning_content: 'hm' }) + end('length') + chat({ content: 'a' }),
    ],
    ['no JSON', 'data: {"delta":{"content":"\n\ndata: <html>\n\n'],
  ])('stay as they are: %s', (_name, events) => {
    expect(joined(events)).toBe(events);
  });

  it('are never mixed up with half of an event', () => {
    const events = chat({ content: 'é' }).repeat(4);
    const bytes = Buffer.from(events);
    for (let at = 0; at <= bytes.length; at += 1) {
      const text = joined(bytes.subarray(0, at), bytes.subarray(at))
        .split('\n\n')
        .filter((event) => event !== '')
        .map((event) => JSON.parse(event.slice('data: '.length)).choices[0].delta.content);
      expect(text.join('')).toBe('éééé');
    }
  });
});
