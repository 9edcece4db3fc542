import { describe, expect, it } from 'vitest';
import { CODE_LENGTH, oneTimeCode, typedCode } from './pairing.ts';

describe('a one-time code', () => {
  it('[F05] has 8 signs, each equally likely, none of which looks like another', () => {
    const all = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    const signs = Array.from(all, (byte) => oneTimeCode(Uint8Array.of(byte))).join('');
    expect(CODE_LENGTH).toBe(8);
    expect(oneTimeCode(all)).toHaveLength(8);
    expect(new Set(signs).size).toBe(32);
    expect(signs).not.toMatch(/[01OI]/);
    for (const sign of new Set(signs)) expect(signs.split(sign)).toHaveLength(9);
  });

  it.each([
    ['ABCD2345', 'ABCD2345'],
    ['abcd2345', 'ABCD2345'],
    [' ABCD-2345 ', 'ABCD2345'],
    ['ABCD 2345', 'ABCD2345'],
    ['ABCD234', null],
    ['ABCD23456', null],
    ['ABCD2340', null],
    ['', null],
  ])('[F05] is read from %j as %j', (text, code) => {
    expect(typedCode(text)).toBe(code);
  });
});
