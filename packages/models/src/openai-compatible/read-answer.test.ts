import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnswerPart, StreamFailure } from '../answer-parts.ts';
import { AnswerReader, type Oddity } from './read-answer.ts';

/** Returns the events that a caller receives for an answer in these packets. */
function readAll(
  packets: readonly Uint8Array[],
  { offered = ['read', 'list'], isClean = true } = {},
) {
  const oddities: Oddity[] = [];
  const reader = new AnswerReader({
    headers: { 'content-type': 'text/event-stream' },
    offered: new Set(offered),
    note: (oddity) => void oddities.push(oddity),
  });
  const parts: AnswerPart[] = packets.flatMap((packet) => reader.push(packet));
  parts.push(...reader.end(isClean));
  const textOf = (type: 'text' | 'reasoning') =>
    parts.map((part) => (part.type === type ? part.text : '')).join('');
  const calls = parts.flatMap((part) => (part.type === 'tool-call' ? part.call : []));
  const finish = parts.find((part) => part.type === 'finish');
  return {
    text: textOf('text'),
    reasoning: textOf('reasoning'),
    calls: calls.map(({ name, arguments: given }) => ({ name, arguments: given })),
    ids: calls.map(({ id }) => id),
    reason: finish?.reason,
    usage: finish?.usage,
    errors: parts.filter(({ type }) => type === 'error').length,
    oddities,
  };
}

/** Splits bytes at the given offsets, which may be inside a character. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [...new Set(places.map((place) => place % (bytes.length + 1)))].sort((a, b) => a - b);
  return [...at, bytes.length].map((end, nth) => bytes.subarray(at[nth - 1] ?? 0, end));
}

const places = fc.array(fc.nat(5_000), { maxLength: 40 });
/** Text with characters of one to four bytes, and everything that JSON and events escape. */
const words = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.toWellFormed()),
  fc.constantFrom(
    'é',
    '你好',
    '😀',
    '👩‍👩‍👧',
    '\n\n',
    'data: ',
    '[DONE]',
    '": {',
    '\\',
    '\u2028',
    '}',
  ),
);
const pieces = fc.array(
  words.filter((word) => word !== ''),
  { minLength: 1, maxLength: 6 },
);

/** Fields that servers add to chunks, with typical values. */
const extras = fc.dictionary(
  fc.constantFrom(
    'id',
    'object',
    'created',
    'system_fingerprint',
    'service_tier',
    'provider',
    'citations',
    'logprobs',
    'stop_reason',
    'matched_stop',
    'seed',
    'token_ids',
    'prompt_filter_results',
    'obfuscation',
    'tool_calls',
    'function_call',
    'refusal',
    'reasoning_content',
    'audio',
  ),
  fc.constantFrom(null, '', [], {}, 0, false),
  { maxKeys: 5 },
);

/** Returns the same fields in another order. */
function shuffled(fields: readonly (readonly [string, unknown])[]) {
  return fc
    .shuffledSubarray([...fields], { minLength: fields.length, maxLength: fields.length })
    .map((order) => Object.fromEntries(order));
}

/** Creates a chunk with the given delta and finish reason. */
function chunkWith(delta: object, reason: string | null) {
  return fc
    .tuple(extras, extras, extras)
    .chain(([inChunk, inChoice, inDelta]) =>
      shuffled(Object.entries({ ...inDelta, ...delta })).chain((said) =>
        shuffled(
          Object.entries({ ...inChoice, index: 0, delta: said, finish_reason: reason }),
        ).chain((choice) => shuffled(Object.entries({ ...inChunk, choices: [choice] }))),
      ),
    );
}

/** Lines without content that may appear between any two events. */
const junk = fc.constantFrom(
  ': still here',
  ':',
  'data:',
  'data: null',
  'data: {}',
  'data: []',
  'event: ping\ndata: {}',
  'id: 7',
  'retry: 3000',
  'data: {"choices":null}',
  'data: {"choices":[]}',
  'data: {"choices":[null]}',
  'data: {"choices":[{"delta":{"con',
  'data: {"type":"ping"}',
  'data: nonsense',
  'data: "text"',
  'data: 5',
  '<html><body>502</body></html>',
  '[proxy] connected',
  '{oops',
);

/** Formats events as one server does: its line breaks, its prefix, and junk between events. */
const streamOf = (chunks: readonly object[], isDone: boolean) =>
  fc
    .record({
      between: fc.array(fc.array(junk, { maxLength: 3 }), {
        minLength: chunks.length + 1,
        maxLength: chunks.length + 1,
      }),
      prefix: fc.constantFrom('data: ', 'data:', 'event: message\ndata: ', '\uFEFFdata: '),
      lineBreak: fc.constantFrom('\n', '\r\n', '\r'),
      places,
    })
    .map(({ between, prefix, lineBreak, places }) => {
      const events = chunks.flatMap((chunk, nth) => [
        ...(between[nth] ?? []),
        `${prefix}${JSON.stringify(chunk)}`,
      ]);
      const last = [...(between.at(-1) ?? []), ...(isDone ? ['data: [DONE]'] : [])];
      const text = [...events, ...last].join('\n\n').replaceAll('\n', lineBreak);
      return cut(new TextEncoder().encode(text), places);
    });

describe('an answer split into arbitrary packets', () => {
  it('[G20] keeps its text with any junk between its events and in its fields', () => {
    const answers = fc
      .tuple(pieces, fc.boolean(), fc.boolean())
      .chain(([said, hasReason, isDone]) =>
        fc
          .tuple(...said.map((content) => chunkWith({ role: 'assistant', content }, null)))
          .chain((chunks) =>
            chunkWith({}, hasReason || !isDone ? 'stop' : null).chain((end) =>
              streamOf([...chunks, end], isDone).map((packets) => ({ said, packets })),
            ),
          ),
      );
    fc.assert(
      fc.property(answers, ({ said, packets }) => {
        const read = readAll(packets);
        expect(read.text).toBe(said.join(''));
        expect([read.reason, read.errors, read.calls]).toEqual(['stop', 0, []]);
      }),
    );
  });

  it('[G20] keeps its calls with their fields split and ordered in any way', () => {
    const calls = fc.array(
      fc.record({
        name: fc.constantFrom('read', 'list'),
        given: fc.dictionary(
          fc.constantFrom('path', 'a', 'b'),
          fc.oneof(words, fc.nat(), fc.constant({ deep: [1] })),
        ),
        places: fc.array(fc.nat(60), { maxLength: 4 }),
      }),
      { minLength: 1, maxLength: 3 },
    );
    const naming = fc.constantFrom('id and index', 'index', 'id', 'id in each piece', 'text index');
    const answers = fc.tuple(calls, naming).chain(([made, how]) => {
      const deltas = made.flatMap((call, nth) => piecesOf(call, nth, how));
      return fc
        .tuple(...deltas.map((delta) => chunkWith(delta, null)))
        .chain((chunks) =>
          chunkWith({}, 'tool_calls').chain((end) =>
            streamOf([...chunks, end], true).map((packets) => ({ made, packets })),
          ),
        );
    });
    fc.assert(
      fc.property(answers, ({ made, packets }) => {
        const read = readAll(packets);
        expect(read.calls).toEqual(
          made.map(({ name, given }) => ({ name, arguments: JSON.stringify(given) })),
        );
        expect(new Set(read.ids).size).toBe(made.length);
        expect(read.reason).toBe('tool-calls');
      }),
    );
  });

  it('[G20] keeps its complete parts with any bytes after them', () => {
    const complete = 'data: {"choices":[{"delta":{"content":"42"},"finish_reason":"stop"}]}\n\n';
    const anything = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc
        .constantFrom('data: {"error":"x"}\n\n', 'event: error\ndata: x\n\n', '{"detail":"x"}')
        .map((text) => new TextEncoder().encode(text)),
    );
    fc.assert(
      fc.property(fc.array(anything, { maxLength: 5 }), fc.boolean(), (behind, isClean) => {
        const read = readAll([new TextEncoder().encode(complete), ...behind], { isClean });
        expect([read.text, read.errors]).toEqual(['42', 0]);
      }),
    );
  });

  it('[G20] never throws an unexpected error, whatever the bytes are', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.json({ maxDepth: 5 }).map((text) => new TextEncoder().encode(`data: ${text}\n\n`)),
      fc
        .json({ maxDepth: 5 })
        .map((text) => new TextEncoder().encode(`data: {"choices":[{"delta":${text}}]}\n\n`)),
      fc
        .json({ maxDepth: 5 })
        .map((text) =>
          new TextEncoder().encode(`data: {"choices":${text},"usage":${text},"error":${text}}\n\n`),
        ),
    );
    fc.assert(
      fc.property(fc.array(bytes, { maxLength: 6 }), (packets) => {
        try {
          readAll(packets);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(StreamFailure);
        }
      }),
    );
  });
});

type Naming = 'id and index' | 'index' | 'id' | 'id in each piece' | 'text index';

/** Creates the deltas for one call: its name, then fragments of its arguments. */
function piecesOf(
  call: { readonly name: string; readonly given: object; readonly places: readonly number[] },
  nth: number,
  how: Naming,
): object[] {
  const text = JSON.stringify(call.given);
  const at = [...new Set(call.places.map((place) => place % (text.length + 1)))].sort(
    (a, b) => a - b,
  );
  const inputs = [...at, text.length].map((end, piece) => text.slice(at[piece - 1] ?? 0, end));
  const place = {
    ...(how !== 'id' && { index: how === 'text index' ? String(nth) : nth }),
    ...(how === 'id in each piece' && { id: `c${nth}` }),
  };
  const first = { ...place, ...(how !== 'index' && { id: `c${nth}` }), type: 'function' };
  return [
    { tool_calls: [{ ...first, function: { name: call.name, arguments: '' } }] },
    ...inputs.map((input) => ({ tool_calls: [{ ...place, function: { arguments: input } }] })),
  ];
}
