import { describe, expect, it } from 'vitest';
import { renderCards } from './cards.ts';
import { WireMessage } from './wire.ts';

const chat = { id: 5, type: 'private' };
const location = { latitude: 52.52, longitude: 13.4, horizontal_accuracy: 9 };

describe('messages that are neither text nor files', () => {
  it.each<[string, object, string]>([
    ['a location', { location }, '[Location: 52.52, 13.4]'],
    [
      'a place',
      { location, venue: { title: 'Zoo', address: 'Hardenbergplatz 8', location } },
      '[Place: Zoo, Hardenbergplatz 8 (52.52, 13.4)]',
    ],
    [
      'a contact',
      { contact: { phone_number: '+491', first_name: 'Bo', last_name: 'Lee' } },
      '[Contact: Bo Lee, +491]',
    ],
    [
      'a poll',
      { poll: { question: 'Tea?', options: [{ text: 'yes' }, { text: 'no' }] } },
      '[Poll: Tea? yes / no]',
    ],
    ['dice', { dice: { emoji: '🎲', value: 4 } }, '[🎲 shows 4]'],
    ['something unknown', { story: {} }, ''],
    ['something broken', { location: 'here' }, ''],
  ])('[F01] %s', (_name, message, text) => {
    const wire = WireMessage.parse({ message_id: 9, date: 1, chat, ...message });
    expect(renderCards(wire).join()).toBe(text);
  });
});
