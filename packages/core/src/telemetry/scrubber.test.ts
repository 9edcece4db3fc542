import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toRunOptions } from '../testing/test-length.ts';
import { openSecrets } from './scrubber.ts';

const TOKEN = '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';

describe('openSecrets with configured secrets', () => {
  const secret = fc.string({ minLength: 6, maxLength: 40, unit: 'binary' });
  // Surrounding text that cannot accidentally contain or continue the secret.
  const around = fc.string({ maxLength: 12, unit: fc.constantFrom('\u0001', '\u0002') });
  const clean = fc
    .string({ minLength: 6, unit: fc.constantFrom(...'abcXYZ059"\\/ \n%&üß😀') })
    .filter((value) => /[^a-z]/i.test(value));

  it('[D10] removes a secret in plain form, escaped in JSON once or twice, and URL-encoded', () => {
    fc.assert(
      fc.property(clean, around, around, (value, before, after) => {
        const scrub = openSecrets([value]).scrubLog;
        const text = before + value + after;
        expect(scrub(text)).toBe(`${before}[secret]${after}`);
        expect(scrub(JSON.stringify(text))).toBe(JSON.stringify(`${before}[secret]${after}`));
        expect(scrub(JSON.stringify(JSON.stringify({ text })))).not.toContain(
          JSON.stringify(JSON.stringify(value)).slice(3, -3),
        );
        expect(scrub(`?q=${encodeURIComponent(value)}&r=1`)).toBe('?q=[secret]&r=1');
      }),
    );
  });

  it('[G18] removes a secret that was added later from text that was already processed', () => {
    const { scrub, add } = openSecrets(['first secret']);
    const text = `A layer of a prompt that names the second secret. ${'It goes on. '.repeat(20)}`;
    expect(scrub(text)).toBe(text);
    add(['second secret']);
    expect(scrub(text)).toBe(text.replace('second secret', '[secret]'));
  });

  it('[D10] removes a secret from base64, at any position in the encoded text', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 7 }),
        fc.uint8Array({ maxLength: 7 }),
        (before, after) => {
          const scrub = openSecrets(['correct horse battery']).scrubLog;
          const bytes = Buffer.concat([before, Buffer.from('correct horse battery'), after]);
          for (const encoding of ['base64', 'base64url'] as const) {
            const scrubbed = scrub(bytes.toString(encoding));
            expect(scrubbed).toContain('[secret]');
            // The remaining text contains at most the neighbors and six bits of the secret at
            // either edge.
            expect(scrubbed.replace('[secret]', '').length).toBeLessThanOrEqual(
              Math.ceil((before.length * 4) / 3) + Math.ceil((after.length * 4) / 3) + 6,
            );
          }
        },
      ),
    );
  });

  it('[D10] removes overlapping and nested secrets completely', () => {
    const scrub = openSecrets(['abc-ef', 'c-efghi', 'xxabc-efghiyy', '123456']).scrubLog;
    expect(scrub('1 abc-efghi 2')).toBe('1 [secret] 2');
    expect(scrub('1 xxabc-efghiyy 2')).toBe('1 [secret] 2');
    expect(scrub(`bot${TOKEN}/getMe`)).toBe('bot[secret]/getMe');
    expect(openSecrets(['a-a-a-']).scrubLog('a-a-a-a-')).toBe('[secret]');
  });

  it('[D10] changes nothing when it is applied a second time, and never throws', () => {
    fc.assert(
      fc.property(
        fc.array(secret, { maxLength: 5 }),
        fc.string({ unit: 'binary' }),
        (secrets, text) => {
          fc.pre(!secrets.some((value) => '[secret][phone]'.includes(value)));
          const scrub = openSecrets(secrets).scrubLog;
          const once = scrub(text + (secrets[0] ?? '') + text);
          expect(scrub(once)).toBe(once);
        },
      ),
    );
    expect(openSecrets(['\uD800 lone half']).scrubLog('\uD800 lone half')).toBe('[secret]');
  });

  it('[D10] does not remove an ordinary word that is the value of a variable', () => {
    const { scrub } = openSecrets(['on', 'true', '', 'parley', 'postgres']);
    expect(scrub('true, it is on: parley, on postgres')).toBe(
      'true, it is on: parley, on postgres',
    );
  });

  it('[G18] removes secrets added later, and keeps phone numbers for authorized readers', () => {
    const secrets = openSecrets(['first-key-1']);
    secrets.add(['other-key-2']);
    expect(secrets.scrub('first-key-1 other-key-2 +491701234567')).toBe(
      '[secret] [secret] +491701234567',
    );
    expect(secrets.scrub('a &lt;&amp;&gt; b')).toBe('a &lt;&amp;&gt; b');
    const hex = Buffer.from('other-key-2').toString('hex');
    expect(openSecrets(['p<4>&word', 'other-key-2']).scrub(`p&lt;4&gt;&amp;word ${hex}`)).toBe(
      '[secret] [secret]',
    );
  });
});

describe('text that arrives in chunks', () => {
  const KEYS = ['key-0a1b', 'b-key-0a', '0a1b2c3d4e'];
  const piece = fc.oneof(
    fc.constantFrom('key-', '0a1', 'b', '2c3d4e', 'b-', 'k', '-', ' '),
    fc.constantFrom(...KEYS),
    fc.string({ maxLength: 3 }),
  );

  it('[G18] never shows part of a secret, and yields the same as scrubbing the whole text', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const secrets = openSecrets(KEYS);
        const stream = secrets.stream();
        const shown = pieces.map((one) => stream.push(one));
        const whole = pieces.join('');
        const clean = secrets.scrub(whole);
        for (let nth = 1; nth <= shown.length; nth += 1) {
          expect(clean.startsWith(shown.slice(0, nth).join(''))).toBe(true);
        }
        expect(shown.join('') + stream.end()).toBe(clean);
      }),
      toRunOptions(2_000),
    );
  });

  it('[G18] holds back only text that could be the beginning of a secret', () => {
    const stream = openSecrets(['key-0a1b2c']).stream();
    expect(['Ask for ', 'the ke', 'y.', ' It is key', '-0a1b', '2c!'].map(stream.push)).toEqual([
      'Ask for ',
      'the ',
      'key.',
      ' It is ',
      '',
      '[secret]!',
    ]);
  });
});

describe('openSecrets without configuration', () => {
  const scrub = openSecrets([]).scrubLog;

  it.each([
    ['a bot token', `token ${TOKEN}.`, 'token [secret].'],
    ['a token in a path', `POST /bot${TOKEN}/sendMessage`, 'POST /bot[secret]/sendMessage'],
    ['a token in an encoded path', `bot${TOKEN.replace(':', '%3A')}/x`, 'bot[secret]/x'],
    ['a session of the page', `for parley_session_${'a-_9'.repeat(10)}abc`, 'for [secret]'],
    ['the token of a person', `for parley_signin_${'a-_9'.repeat(10)}abc`, 'for [secret]'],
    ['a key', 'key sk-proj-abc_DEF-0123456789', 'key [secret]'],
    [
      'a bearer header',
      'Authorization: Bearer abcdef.ghijkl.mnopqr',
      'Authorization: Bearer [secret]',
    ],
    [
      'the number in a WhatsApp address',
      'to 491701234567:3@s.whatsapp.net in whatsapp:default:491701234567%40s.whatsapp.net',
      'to [phone]:3@s.whatsapp.net in whatsapp:default:[phone]%40s.whatsapp.net',
    ],
    ['the number of a person of WhatsApp', 'by whatsapp:491701234567.', 'by whatsapp:[phone].'],
    ['a phone number', 'from +491701234567 to "+12025550123"', 'from [phone] to "[phone]"'],
  ])('[D10] recognizes %s', (_what, text, expected) => {
    expect(scrub(text)).toBe(expected);
  });

  it.each([
    '2026-11-21T04:22:32.113+0100',
    'task-management-of-the-whole-team',
    'bearer authentication failed',
    '1+12345678901 apples',
    'at 12:34:56, 1700000000000 ms',
    'telegram:123456789',
  ])('does not change %s', (text) => {
    expect(scrub(text)).toBe(text);
  });
});
