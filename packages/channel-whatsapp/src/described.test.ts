import type { proto } from '@whiskeysockets/baileys';
import { describe, expect, it } from 'vitest';
import { described } from './described.ts';

const at = { degreesLatitude: 52.520008, degreesLongitude: 13.404954 };
const vcard = [
  'BEGIN:VCARD',
  'FN:Ann',
  'item1.TEL;waid=491500000001:+49 1500 000001',
  'item1.X-ABLabel:Mobile',
  'EMAIL:ann@example.org',
  'PHOTO:xyz',
  'END:VCARD',
].join('\r\n');

describe('what is no text, in words', () => {
  it.each<[proto.IMessage, string]>([
    [{ locationMessage: at }, '[Location: 52.52001, 13.40495]'],
    [
      { locationMessage: { ...at, name: 'Tower', address: 'Square 1' } },
      '[Location: Tower, Square 1 (52.52001, 13.40495)]',
    ],
    [{ liveLocationMessage: at }, '[Location: 52.52001, 13.40495]'],
    [
      { contactMessage: { displayName: 'Ann', vcard } },
      '[Contact: Ann, +49 1500 000001, ann@example.org]',
    ],
    [
      { contactsArrayMessage: { contacts: [{ displayName: 'A' }, { displayName: 'B' }] } },
      '[Contact: A]\n[Contact: B]',
    ],
    [
      { pollCreationMessageV3: { name: 'When?', options: [{ optionName: 'now' }, {}] } },
      '[Poll: When?]\n- now\n- ',
    ],
    [{ conversation: 'x' }, ''],
  ])('[F01] %o', (content, words) => {
    expect(described(content)).toBe(words);
  });
});
