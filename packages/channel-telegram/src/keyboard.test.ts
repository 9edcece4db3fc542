import { ChannelError } from '@parley/core';
import { describe, expect, it } from 'vitest';
import { toKeyboard } from './format.ts';

const button = (label: string) => ({ label, data: `/${label}` });
const key = (label: string) => ({ text: label, callback_data: `/${label}` });

describe('buttons below a message', () => {
  it.each<[string, string[], string[][]]>([
    ['short ones side by side', ['Yes', 'No', 'Later'], [['Yes', 'No', 'Later']]],
    [
      'long ones below each other',
      ['a'.repeat(30), 'b'.repeat(30)],
      [['a'.repeat(30)], ['b'.repeat(30)]],
    ],
    [
      'as many in a row as fit',
      ['a'.repeat(12), 'b'.repeat(12), 'c'],
      [['a'.repeat(12), 'b'.repeat(12)], ['c']],
    ],
  ])('[F04] are arranged as expected: %s', (_name, labels, rows) => {
    expect(toKeyboard(labels.map(button))).toEqual({
      reply_markup: { inline_keyboard: rows.map((row) => row.map(key)) },
    });
  });

  it('[F18] have the color of their style, or none without a style', () => {
    const buttons = [
      { ...button('Approve'), style: 'success' as const },
      { ...button('Deny'), style: 'danger' as const },
      button('Later'),
    ];
    const row = [
      { ...key('Approve'), style: 'success' },
      { ...key('Deny'), style: 'danger' },
      key('Later'),
    ];
    expect(toKeyboard(buttons)).toEqual({ reply_markup: { inline_keyboard: [row] } });
  });

  it('are absent when none are requested', () => {
    expect(toKeyboard(undefined)).toEqual({});
  });

  it('[F04] are refused before anything is sent when their data is longer than Telegram stores', () => {
    const wide = [{ label: 'Ok', data: 'ж'.repeat(33) }];
    expect(() => toKeyboard(wide)).toThrow(ChannelError);
    expect(() => toKeyboard(wide)).toThrow('64 bytes');
  });
});
