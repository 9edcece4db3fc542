import { describe, expect, it } from 'vitest';
import { visibleText } from './visible-text.ts';

/** The chat of the table: `m7` is answered, `m5` and `m6` are known, and `x1` is of another chat. */
const CHAT = { current: 'm7', known: new Set(['m5', 'm6', 'm7']) };

/** As the table writes it: `∅` nothing is sent; `↩ id` the answer quotes that message. */
function written(answer: string): string {
  const seen = visibleText(answer, CHAT);
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
  ['[G08] what is not the model’s to say is taken out', NOT_THE_MODELS],
])('%s', (_title, rows) => {
  it.each(rows)('%j → %j', (answer, seen) => {
    expect(written(answer)).toBe(seen);
  });
});
