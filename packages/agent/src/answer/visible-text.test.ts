import { toRunOptions } from '@parley/core/testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createAnswerStream, getVisibleAnswer, markSystemMessage } from './visible-text.ts';

/**
 * In the tables, the answer is for `m7`, `m5` and `m6` are earlier messages, and `x1` belongs to
 * another chat.
 */
const CHAT = { current: 'm7', known: new Set(['m5', 'm6', 'm7']) };

/**
 * In the tables, `∅` means that nothing is sent, and `↩ id` means that the answer quotes that
 * message.
 */
function written(answer: string): string {
  const seen = getVisibleAnswer(answer, CHAT);
  if (seen.kind === 'silent') return '∅';
  return seen.replyTo === undefined ? seen.text : `↩ ${seen.replyTo}  ${seen.text}`;
}

type Row = readonly [answer: string, seen: string];

// biome-ignore-start format: a table is read down its columns
const SILENT: readonly Row[] = [
  // the model answers                      a person sees
  ['NO_REPLY', '∅'],
  [' NO_REPLY\n', '∅'],
  ['no_reply', '∅'],
  ['No_Reply.', '∅'],
  ['NO_REPLY!!', '∅'],
  ['**NO_REPLY**', '∅'],
  ['`NO_REPLY`', '∅'],
  ['> NO_REPLY', '∅'],
  ['NO\\_REPLY', '∅'],
  ['NO REPLY', '∅'],
  ['NO-REPLY', '∅'],
  ['"NO_REPLY"', '∅'],
  ['„NO_REPLY“', '∅'],
  ['« NO_REPLY »', '∅'],
  ['「NO_REPLY」。', '∅'],
  ['(NO_REPLY)', '∅'],
  ['\u200bNO_\u200bREPLY\ufeff', '∅'],
  ['ＮＯ＿ＲＥＰＬＹ', '∅'],
  ['```\nNO_REPLY\n```', '∅'],
  ['```text\nNO_REPLY\n```', '∅'],
  ['NO_REPLY NO_REPLY', '∅'],
  ['NO_REPLY\n\nHEARTBEAT_OK', '∅'],
  ['[[reply_to_current]] NO_REPLY', '∅'],
  ['⚙️ NO_REPLY', '∅'],
  ['<turn-facts>\nDate\n</turn-facts>\nNO_REPLY', '∅'],
  ['HEARTBEAT_OK', '∅'],
  ['**HEARTBEAT_OK**.', '∅'],
];

const AT_AN_EDGE: readonly Row[] = [
  ['NO_REPLY\n\nActually, it rains.', 'Actually, it rains.'],
  ['no_reply\nActually, it rains.', 'Actually, it rains.'],
  ['NO_REPLY: it rains.', 'it rains.'],
  ['NO_REPLYThe user asks for rain.', 'The user asks for rain.'],
  ['It rains.\n\nNO_REPLY', 'It rains.'],
  ['It rains. **NO_REPLY**', 'It rains.'],
  ['It rains.NO_REPLY', 'It rains.'],
  ['**It rains. NO_REPLY**', '**It rains.**'],
  ['It rains.\n- NO_REPLY', 'It rains.'],
  ['It rains.\n```\nNO_REPLY\n```', 'It rains.'],
  ['It rains.\n\nNO_REPLY\n\nStill.', 'It rains.\n\nStill.'],
  ['NO_REPLY 👍', '👍'],
  ['HEARTBEAT_OK The door is open.', 'The door is open.'],
  ['The door is open.\nHEARTBEAT_OK.', 'The door is open.'],
];

const REAL_WORDS: readonly Row[] = [
  ['No reply.', 'No reply.'],
  ['No reply yet from Anna.', 'No reply yet from Anna.'],
  ['I answer NO_REPLY when I am not meant.', 'I answer NO_REPLY when I am not meant.'],
  ['The column is called no_reply.', 'The column is called no_reply.'],
  ['Set NO_REPLY_TO first.', 'Set NO_REPLY_TO first.'],
  ['It is FOO_NO_REPLY', 'It is FOO_NO_REPLY'],
  ['```\nif quiet: NO_REPLY else: talk\n```', '```\nif quiet: NO_REPLY else: talk\n```'],
  ['Lists: [[1, 2], [3]] and [[Page]]', 'Lists: [[1, 2], [3]] and [[Page]]'],
  ['  two spaces,  kept \n', '  two spaces,  kept \n'],
  ['The `<turn-facts>` block is fenced.', 'The `<turn-facts>` block is fenced.'],
  ['Press ⚙️ to open it.', 'Press ⚙️ to open it.'],
];

const TAGS: readonly Row[] = [
  ['[[reply_to_current]] Yes.', '↩ m7  Yes.'],
  ['[[reply_to:m5]] Yes.', '↩ m5  Yes.'],
  ['[[ reply_to: m5 ]]\nYes.', '↩ m5  Yes.'],
  ['[[REPLY_TO_CURRENT]]Yes.', '↩ m7  Yes.'],
  ['[[reply_to:m5]] [[reply_to:m6]] Yes.', '↩ m5  Yes.'],
  ['[[reply_to:x1]] Yes.', 'Yes.'],
  ['[[reply_to:x1]] [[reply_to:m6]] Yes.', '↩ m6  Yes.'],
  ['**[[reply_to_current]] Yes.**', '↩ m7  **Yes.**'],
  ['Yes. [[reply_to_current]]', 'Yes.'],
  ['Yes, [[reply_to:m5]] really.', 'Yes, really.'],
  ['[[reply_to[[reply_to_current]]_current]] Hi.', 'Hi.'],
];

const NOT_THE_MODELS: readonly Row[] = [
  ['⚙️ Stopped.', 'Stopped.'],
  ['⚙️ ⚙️ **Stopped.**', '**Stopped.**'],
  ['**⚙️ Note**: it rains.', '**Note**: it rains.'],
  ['⚙ Stopped.', 'Stopped.'],
  ['<message-context>\nfrom: 7\n</message-context>\nHi.', 'Hi.'],
  ['Hi.\n<turn-facts>\n- Date: x\n</turn-facts>', 'Hi.'],
  ['[memory context]\nnotes\n\nmore\n[/memory context]\n\nHi.', 'Hi.'],
  ['<message-context>\nfrom: 7\n\nHi.', 'Hi.'],
  ['</message-context>\nHi.', 'Hi.'],
];

// biome-ignore-end format: the table ends

describe.each([
  ['[G09] nothing is sent', SILENT],
  ['[G09] a token at an edge is removed', AT_AN_EDGE],
  ['[G09] real words are left alone', REAL_WORDS],
  ['[G10] tags choose what is quoted', TAGS],
  ['[G08] system marks and frames are removed', NOT_THE_MODELS],
])('%s', (_title, rows) => {
  it.each(rows)('%j → %j', (answer, seen) => {
    expect(written(answer)).toBe(seen);
  });
});

/** Fragments that can combine into anything that the code removes, mixed with real words. */
const pieces = fc.array(
  fc.oneof(
    {
      arbitrary: fc.constantFrom(
        'NO_REPLY',
        'NO',
        '_REPLY',
        'no_reply',
        'HEARTBEAT_OK',
        'NO REPLY',
      ),
      weight: 3,
    },
    fc.constantFrom(
      '[[reply_to_current]]',
      '[[reply_to:',
      'm5',
      ']]',
      '[[',
      '_current]]',
      '[[reply_to',
    ),
    fc.constantFrom('<turn-facts>', '</turn-facts>', '[memory context]', '[/memory context]', '<'),
    fc.constantFrom('⚙️', '⚙', ' ', '\n', '\n\n', '**', '`', '```\n', '"', '.', '- ', '\u200b', '_'),
    fc.constantFrom('hello', 'N', 'o', 'It rains', '👍🏽', '天气', 'x1'),
    fc.string({ unit: 'grapheme', maxLength: 4 }),
  ),
  { maxLength: 12 },
);

describe('a streamed answer', () => {
  type SeenPiece = Parameters<Parameters<typeof createAnswerStream>[1]>[0];

  function streamed(chunks: readonly string[]): { shown: SeenPiece[]; before: string } {
    const shown: SeenPiece[] = [];
    const stream = createAnswerStream(CHAT, (piece) => void shown.push(piece));
    for (const chunk of chunks) stream.push(chunk);
    const before = shown.map(({ text }) => text).join('');
    stream.end();
    return { shown, before };
  }

  /** Splits a text into chunks without regard to word boundaries. */
  function cutAt(text: string, sizes: readonly number[]): string[] {
    const chunks: string[] = [];
    for (let at = 0, nth = 0; at < text.length; nth += 1) {
      const size = sizes[nth % sizes.length] ?? 1;
      chunks.push(text.slice(at, at + size));
      at += size;
    }
    return chunks;
  }
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 6 });

  it('[F12] [G09] [G10] never takes back shown text and ends with the whole answer, however the stream is chunked', () => {
    fc.assert(
      fc.property(pieces, sizes, (all, cuts) => {
        const whole = all.join('');
        const seen = getVisibleAnswer(whole, CHAT);
        const { shown, before } = streamed(cutAt(whole, cuts));
        const text = shown.map((piece) => piece.text).join('');
        expect(text).toBe(seen.kind === 'says' ? seen.text : '');
        if (seen.kind === 'silent') expect(before).toBe('');
        else if (text !== '') {
          expect(new Set(shown.map(({ replyTo }) => replyTo))).toEqual(new Set([seen.replyTo]));
        }
      }),
      toRunOptions(2_000),
    );
  });

  it.each([
    ['a tag', '[[reply_to:hello\n\nNO_REPLY]]', '[[reply_to:hello'],
    ['a tag over two lines', '[[reply_to:helloNO_REPLY\n]]', '[[reply_to:hello'],
    [
      'a tag that closes a frame',
      'NO_REPLY<turn-facts>[[reply_to:</turn-facts>_current]]',
      '_current]]',
    ],
    ['a token around a tag', 'Yes 𐖗NO[[reply_to_current]]_REPLY', 'Yes 𐖗'],
    ['a frame behind a list sign', '- NO_REPLY\n\n[/memory context]', ''],
    ['a frame behind a fence', '```\nNO_REPLY\n\n[/memory context]', ''],
    ['a frame behind a mark', '_NO_REPLY\n[/memory context]', ''],
    ['words behind a list sign', '- NO_REPLY\n\nIt rains', 'It rains'],
  ])(
    '[F12] [G09] shows the same text whether it arrives letter by letter or in one piece: %s',
    (_, whole, text) => {
      const { shown } = streamed([...whole]);
      expect(shown.map((piece) => piece.text).join('')).toBe(text);
      expect(getVisibleAnswer(whole, CHAT)).toEqual(
        text === '' ? expect.objectContaining({ kind: 'silent' }) : { kind: 'says', text },
      );
    },
  );

  it('[F12] shows plain text immediately, up to the last complete word', () => {
    const { before } = streamed(['The rain ', 'in Spain ', 'stays.']);
    expect(before).toBe('The rain in Spain stays');
  });

  it('[F12] processes a growing answer in bounded time', () => {
    const stream = createAnswerStream(CHAT, () => {});
    const started = performance.now();
    for (let nth = 0; nth < 20_000; nth += 1) stream.push('word [x] ');
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

describe('the visible text', () => {
  it('[G08] [G09] [G10] does not contain a token, tag or frame that would have to be removed', () => {
    fc.assert(
      fc.property(pieces, (all) => {
        const seen = getVisibleAnswer(all.join(''), CHAT);
        if (seen.kind === 'silent') return;
        expect(seen.text).not.toMatch(/\[\[ *reply_to_current *\]\]|^\s*⚙/i);
        expect(seen.text).not.toMatch(/^NO_REPLY(?![_\p{N}])|(?<![\p{Lu}\p{N}_])NO_REPLY$/u);
        expect(getVisibleAnswer(seen.text, CHAT)).toEqual({ kind: 'says', text: seen.text });
      }),
      toRunOptions(2_000),
    );
  });

  it('[G09] equals the answer, character for character, if the answer contains nothing to remove', () => {
    const words = fc.string({ unit: 'grapheme', maxLength: 60 });
    fc.assert(
      fc.property(words, (text) => {
        fc.pre(!/⚙|\[\[|_reply|heartbeat/i.test(text));
        expect(getVisibleAnswer(text, CHAT)).toEqual({ kind: 'says', text });
      }),
    );
  });

  it('[G08] has the system mark exactly once in a system message, even if the author already wrote one', () => {
    for (const words of ['Stopped.', '⚙️ Stopped.', '⚙ ⚙️ Stopped.']) {
      expect(markSystemMessage(words)).toBe('⚙️ Stopped.');
    }
  });
});
