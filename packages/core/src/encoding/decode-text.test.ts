import fc from 'fast-check';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { toRunOptions } from '../testing/test-length.ts';
import { decodeText, describeEncodingWarning } from './decode-text.ts';

const RUSSIAN = 'Сегодня хорошая погода, поэтому мы пойдём гулять в парк после обеда.';
const CHINESE = '今天天气很好，我们一起去公园散步吧。请记得带上雨伞。';
const TAIWANESE = '今天天氣很好，我們一起去公園散步吧。請記得帶上雨傘。';
const JAPANESE = '今日は天気がいいので、公園まで散歩に行きましょう。傘を忘れないで。';
const KOREAN = '오늘은 날씨가 좋으니 공원에 산책하러 갑시다. 우산을 잊지 마세요.';
const POLISH = 'Spotkanie zostało przełożone na środę, ponieważ pociąg się spóźnia. Proszę.';
const GERMAN =
  'Die Besprechung fällt aus, weil der Zug aus München später kommt: Schlüssel, Straße.';
const GREEK = 'Η συνάντηση μεταφέρθηκε για την Τετάρτη, επειδή το τρένο καθυστερεί.';
const TURKISH = 'Toplantı çarşambaya ertelendi, çünkü tren gecikiyor. İyi günler, ağaç, şimdi.';

/** Samples of one sentence, by the encoding in which programs save them. */
const SENTENCES: readonly (readonly [encoding: string, saved: string, text: string])[] = [
  ['gb18030', 'gb18030', CHINESE],
  ['big5', 'big5', TAIWANESE],
  ['shift_jis', 'shift_jis', JAPANESE],
  ['euc-jp', 'euc-jp', JAPANESE],
  ['euc-kr', 'euc-kr', KOREAN],
  ['windows-1250', 'win1250', POLISH],
  ['windows-1251', 'win1251', RUSSIAN],
  ['windows-1252', 'win1252', GERMAN],
  ['windows-1253', 'win1253', GREEK],
  ['windows-1254', 'win1254', TURKISH],
  ['koi8-r', 'koi8-r', RUSSIAN],
  ['ibm866', 'cp866', RUSSIAN],
  ['utf-16le', 'utf-16le', RUSSIAN],
  ['utf-16be', 'utf-16be', JAPANESE],
  ['utf-32le', 'utf-32le', KOREAN],
];

describe('text decoded from bytes', () => {
  it.each(SENTENCES)('[W10] is decoded from %s (saved as %s)', (encoding, saved, text) => {
    const decoded = decodeText(iconv.encode(text, saved));
    expect(decoded).toMatchObject({ text, encoding, replaced: 0 });
  });

  it.each([
    ['UTF-8', [0xef, 0xbb, 0xbf, 0x68, 0x69]],
    ['UTF-16LE', [0xff, 0xfe, 0x68, 0, 0x69, 0]],
    ['UTF-16BE', [0xfe, 0xff, 0, 0x68, 0, 0x69]],
    ['UTF-32LE', [0xff, 0xfe, 0, 0, 0x68, 0, 0, 0, 0x69, 0, 0, 0]],
    ['UTF-32BE', [0, 0, 0xfe, 0xff, 0, 0, 0, 0x68, 0, 0, 0, 0x69]],
  ])('[W10] does not contain the byte order mark of %s', (_name, bytes) => {
    expect(decodeText(Uint8Array.from(bytes))).toMatchObject({ text: 'hi', certainty: 'sure' });
  });

  it('[W10] is decoded from Japanese mail that switches character sets; colors in a log do not count as such a switch', () => {
    const mail = Buffer.from('\u001b$B2q5D\u001b(B OK', 'latin1');
    expect(decodeText(mail)).toMatchObject({ text: '会議 OK', encoding: 'iso-2022-jp' });
    const log = Buffer.from('\u001b[31mFehler\u001b[0m: Grüße\u001b(B\n');
    expect(decodeText(log)).toMatchObject({ encoding: 'utf-8', certainty: 'sure' });
    const korean = Buffer.from('\u001b$)C\u000e;g6w\u000f', 'latin1');
    expect(decodeText(korean).certainty).toBe('none');
  });

  it('[W10] stays UTF-8 when a few bytes are invalid, and counts them', () => {
    const bytes = Buffer.concat([
      Buffer.from('Müller;Köln;5 €\n'.repeat(20)),
      Buffer.of(0xff),
      Buffer.from('Straße\n'),
    ]);
    const decoded = decodeText(bytes);
    expect(decoded).toMatchObject({ encoding: 'utf-8', replaced: 1, certainty: 'sure' });
    expect(decoded.text.endsWith('\n\uFFFDStraße\n')).toBe(true);
    expect(describeEncodingWarning(decoded)).toMatch(
      /^It is UTF-8 with invalid bytes: 1 character could/,
    );
  });

  it('[W10] does not count a character truncated by a bounded read, in any encoding', () => {
    for (const [, saved, text] of [['', 'utf-8', CHINESE] as const, ...SENTENCES.slice(0, 5)]) {
      const bytes = iconv.encode(`${text}${text}`, saved).subarray(0, -1);
      const decoded = decodeText(bytes, { isCut: true });
      expect([saved, decoded.replaced]).toEqual([saved, 0]);
      expect(`${text}${text}`.startsWith(decoded.text)).toBe(true);
    }
  });

  it('[W10] keeps a U+FFFD that was in the original text', () => {
    const decoded = decodeText(Buffer.from('a \uFFFD b'));
    expect(decoded).toMatchObject({ replaced: 0, certainty: 'sure' });
    expect(describeEncodingWarning(decoded)).toBeNull();
  });

  it.each([
    ['a header', CHINESE.slice(0, 4), 'gb18030', { declared: 'gb2312' }, 'gb18030'],
    [
      'XML',
      `<?xml version="1.0" encoding="windows-1251"?><a>${RUSSIAN.slice(0, 7)}</a>`,
      'win1251',
      {},
      'windows-1251',
    ],
    ['HTML', `<html><meta charset="euc-jp"><p>会議</p>`, 'euc-jp', {}, 'euc-jp'],
    ['CSS', `@charset "shift_jis";\n/* 会議 */`, 'shift_jis', {}, 'shift_jis'],
    ['Python', `#!/usr/bin/python\n# -*- coding: big5 -*-\nx = '會議'`, 'big5', {}, 'big5'],
  ])('[W10] is decoded as declared by %s', (_what, text, saved, hints, encoding) => {
    const decoded = decodeText(iconv.encode(text, saved), hints);
    expect(decoded).toMatchObject({ text, encoding, certainty: 'sure' });
  });

  it('[W10] ignores a wrong declaration', () => {
    const utf8 = Buffer.from(`<?xml version="1.0" encoding="windows-1251"?><a>${CHINESE}</a>`);
    expect(decodeText(utf8, { declared: 'iso-8859-1' })).toMatchObject({ encoding: 'utf-8' });
    const gbk = iconv.encode(CHINESE, 'gb18030');
    expect(decodeText(gbk, { declared: 'utf-8' }).text).toBe(CHINESE);
    expect(decodeText(gbk, { declared: 'iso-8859-1' }).text).toBe(CHINESE);
    expect(decodeText(gbk, { declared: 'no-such-charset' }).text).toBe(CHINESE);
  });

  it('[W10] is detected even if it comes late in a large file', () => {
    const text = `${'plain line\n'.repeat(100_000)}${RUSSIAN}\n`;
    expect(decodeText(iconv.encode(text, 'win1251')).text).toBe(text);
  });

  it('[W10] is not detected in a program or a picture', () => {
    const noise = Uint8Array.from({ length: 4_096 }, (_, at) => (at * 7919 + (at >> 3) * 31) % 256);
    expect(decodeText(noise).certainty).toBe('none');
    expect(describeEncodingWarning(decodeText(noise))).toContain('cannot be read');
  });

  it.each([
    ['gb18030', 'gbk', '用户名,密码\nadmin,123\n'],
    ['euc-jp', 'euc-jp', '山田太郎 090-1234-5678'],
    ['shift_jis', 'shift_jis', 'ﾔﾏﾀﾞ ﾀﾛｳ,100\nｻﾄｳ ﾊﾅｺ,200\n'],
    ['windows-1251', 'win1251', 'ВНИМАНИЕ! ВАЖНО!'],
    ['windows-1252', 'win1252', '§ 5 BGB'],
  ])(
    '[W10] is decoded as %s if there are only a few words but their letters are common in that encoding',
    (encoding, saved, text) => {
      expect(decodeText(iconv.encode(text, saved))).toMatchObject({ encoding, text });
    },
  );

  it('[W10] is not decoded as Latin-1 only because a program declares Latin-1 for everything it sends', () => {
    for (const [saved, text] of [
      ['gbk', CHINESE],
      ['win1251', RUSSIAN],
      ['shift_jis', JAPANESE],
    ] as const) {
      expect(decodeText(iconv.encode(text, saved), { declared: 'iso-8859-1' }).text).toBe(text);
    }
    const german = iconv.encode(GERMAN, 'win1252');
    expect(decodeText(german, { declared: 'iso-8859-1' }).text).toBe(GERMAN);
  });

  it.each(['utf-16le', 'utf-16be'])(
    '[W10] continues in UTF-8 where a shell appended to a %s file',
    (encoding) => {
      const before = '\uFEFF# Aufgaben\r\n- [ ] Käse kaufen\r\n';
      const after = '- [ ] Send the invoice für Ann\n';
      const bytes = Buffer.concat([
        iconv.encode(before, encoding, { addBOM: false }),
        Buffer.from(after),
      ]);
      expect(decodeText(bytes)).toMatchObject({
        text: `${before.slice(1)}${after}`,
        certainty: 'guess',
      });
      for (const text of [
        `${CHINESE}\r\n${CHINESE}`,
        `${JAPANESE}\r\nOK`,
        `${RUSSIAN}\r\n${RUSSIAN}`,
      ]) {
        const whole = iconv.encode(`\uFEFF${text}`, encoding, { addBOM: false });
        expect(decodeText(whole)).toMatchObject({ text, certainty: 'sure' });
      }
    },
  );

  it.each([0xff, 0x80, 0xc3])('[W10] loses one character if one byte is changed to %i', (bad) => {
    const emoji = Buffer.from('Plain text with one emoji 👍 here');
    emoji[8] = bad;
    expect(decodeText(emoji).text).toBe('Plain te\uFFFDt with one emoji 👍 here');
    const wide = Buffer.from('Meeting notes\r\nWednesday at three', 'utf16le');
    for (const at of [0, 1, 31, wide.length - 1]) {
      const damaged = Buffer.from(wide);
      damaged[at] = bad;
      const { text, encoding } = decodeText(damaged);
      expect(encoding).toBe('utf-16le');
      expect(
        [...text].filter((one) => !'Meeting notes\r\nWednesday at three'.includes(one)),
      ).toHaveLength(1);
    }
  });

  it('[W10] is marked as a guess if there is only one word', () => {
    const decoded = decodeText(iconv.encode('测试', 'gb18030'));
    expect(decoded).toMatchObject({ text: '测试', certainty: 'guess' });
    expect(describeEncodingWarning(decoded)).toContain('guessed (GB18030, Simplified Chinese)');
  });
});

const WORDS: readonly (readonly [
  saved: readonly string[],
  words: readonly string[],
  glue: string,
])[] = [
  [
    ['gb18030'],
    '今天 天气 很好 我们 一起 公园 散步 记得 雨伞 下午 可能 会议 星期 上午 二楼 举行'.split(' '),
    '',
  ],
  [
    ['big5'],
    '今天 天氣 很好 我們 一起 公園 散步 記得 雨傘 下午 可能 會議 星期 上午 二樓 舉行'.split(' '),
    '',
  ],
  [
    ['shift_jis', 'euc-jp'],
    '今日は 天気が いいので 公園まで 散歩に 行きましょう 午後は 雨が 降るかも 会議は'.split(' '),
    '',
  ],
  [
    ['euc-kr'],
    '오늘은 날씨가 좋으니 공원에 산책하러 갑시다 오후에는 비가 우산을 회의는'.split(' '),
    ' ',
  ],
  [['win1251', 'koi8-r', 'cp866'], RUSSIAN.split(' '), ' '],
  [['win1250', 'iso88592'], POLISH.split(' '), ' '],
  [['win1252'], GERMAN.split(' '), ' '],
  [['win1253'], GREEK.split(' '), ' '],
  [['win1254'], TURKISH.split(' '), ' '],
];
const written = fc.constantFrom(...WORDS).chain(([saved, words, glue]) =>
  fc.record({
    saved: fc.constantFrom(...saved, 'utf-8', 'utf-16le', 'utf-16be', 'utf-32le'),
    text: fc
      .array(fc.constantFrom(...words), { minLength: 6, maxLength: 30 })
      .map((chosen) => `${chosen.join(glue)}\n`),
  }),
);

describe('text that people write in any encoding', () => {
  it('[W10] is decoded as it was written, or marked as a guess', () => {
    fc.assert(
      fc.property(written, ({ saved, text }) => {
        const decoded = decodeText(iconv.encode(text, saved));
        expect([saved, decoded.certainty === 'sure' ? decoded.text : text]).toEqual([saved, text]);
      }),
      toRunOptions(300),
    );
  });

  it('[W10] loses at most one character to a damaged byte in UTF-8', () => {
    const damage = fc.record({ at: fc.nat(), to: fc.integer({ min: 0x80, max: 0xff }) });
    fc.assert(
      fc.property(fc.array(written, { minLength: 3 }), damage, (parts, { at, to }) => {
        const text = parts.map((part) => part.text).join('');
        const bytes = Buffer.from(text);
        bytes[at % bytes.length] = to;
        const decoded = decodeText(bytes);
        const kept = [...decoded.text].filter((character) => character !== '\uFFFD').length;
        expect(decoded.encoding).toBe('utf-8');
        expect(kept).toBeGreaterThanOrEqual([...text].length - 2);
      }),
      toRunOptions(200),
    );
  });
});
