import { describe, expect, it } from 'vitest';
import { mentionedIn } from './outgoing-mentions.ts';

const GROUP = {
  id: '1203@g.us',
  owner: undefined,
  subject: 'G',
  participants: [
    { id: '11000@lid', phoneNumber: '491500000001@s.whatsapp.net' },
    { id: '22000@lid' },
  ],
};

describe('whom an answer names in a group', () => {
  it.each([
    ['hi @491500000001!', ['491500000001@s.whatsapp.net']],
    ['@11000 and (@22000), @11000', ['11000@lid', '22000@lid']],
    ['@33000, ann@11000, @11000x, @@11000, 11000', []],
  ])('[M05] %s', (text, jids) => {
    expect(mentionedIn(text, GROUP)).toEqual(jids);
  });
});
