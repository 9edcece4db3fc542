import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { decodeAs } from './labels.ts';

const SYLLABLES = Array.from({ length: 0xd7a3 - 0xac00 + 1 }, (_, nth) =>
  String.fromCharCode(0xac00 + nth),
);

describe('Korean text as Windows writes it', () => {
  it('[W10] decodes every syllable', () => {
    for (const syllable of SYLLABLES) {
      expect(decodeAs('euc-kr', iconv.encode(syllable, 'cp949'))).toBe(syllable);
    }
  });

  it('[W10] decodes single-byte and standard text around a syllable', () => {
    const text = `Menu: 뷁 100, 똠양꿍 200; 김치찌개 (매운맛) 펲\n${SYLLABLES.join('')}`;
    expect(decodeAs('euc-kr', iconv.encode(text, 'cp949'))).toBe(text);
  });

  it('[W10] loses one character to one damaged byte', () => {
    const bytes = Buffer.concat([iconv.encode('뷁 ', 'cp949'), Buffer.of(0xff), Buffer.from(' 1')]);
    expect(decodeAs('euc-kr', bytes)).toBe('뷁 \uFFFD 1');
  });
});
