import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createScrubber } from './scrubber.ts';

const TOKEN = '123456789:AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw';

describe('createScrubber with configured secrets', () => {
  const secret = fc.string({ minLength: 6, maxLength: 40, unit: 'binary' });
  // Surroundings that cannot contain or continue the secret by accident.
  const around = fc.string({ maxLength: 12, unit: fc.constantFrom('\u0001', '\u0002') });
  const clean = fc.string({ minLength: 6, unit: fc.constantFrom(...'abcXYZ059"\\/ \n%&üß😀') });

  it('[D10] removes a secret as it is, escaped in JSON once or twice, and encoded in a URL', () => {
    fc.assert(
      fc.property(clean, around, around, (value, before, after) => {
        const scrub = createScrubber([value]);
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

  it('[D10] removes a secret from base64, wherever in the encoded text it stands', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 7 }),
        fc.uint8Array({ maxLength: 7 }),
        (before, after) => {
          const scrub = createScrubber(['correct horse battery']);
          const bytes = Buffer.concat([before, Buffer.from('correct horse battery'), after]);
          for (const encoding of ['base64', 'base64url'] as const) {
            const scrubbed = scrub(bytes.toString(encoding));
            expect(scrubbed).toContain('[secret]');
            // What is left holds at most the neighbours and six bits of the secret at either edge.
            expect(scrubbed.replace('[secret]', '').length).toBeLessThanOrEqual(
              Math.ceil((before.length * 4) / 3) + Math.ceil((after.length * 4) / 3) + 6,
            );
          }
        },
      ),
    );
  });

  it('[D10] leaves nothing of secrets that overlap or contain one another', () => {
    const scrub = createScrubber(['abcdef', 'defghi', 'xxabcdefghiyy', '123456']);
    expect(scrub('1 abcdefghi 2')).toBe('1 [secret] 2');
    expect(scrub('1 xxabcdefghiyy 2')).toBe('1 [secret] 2');
    expect(scrub(`bot${TOKEN}/getMe`)).toBe('bot[secret]/getMe');
    expect(createScrubber(['ababab'])('abababab')).toBe('[secret]');
  });

  it('[D10] changes nothing more when used twice, and never throws', () => {
    fc.assert(
      fc.property(
        fc.array(secret, { maxLength: 5 }),
        fc.string({ unit: 'binary' }),
        (secrets, text) => {
          fc.pre(!secrets.some((value) => '[secret][phone]'.includes(value)));
          const scrub = createScrubber(secrets);
          const once = scrub(text + (secrets[0] ?? '') + text);
          expect(scrub(once)).toBe(once);
        },
      ),
    );
    expect(createScrubber(['\uD800 lone half'])('\uD800 lone half')).toBe('[secret]');
  });

  it('[D10] does not blot out words because somebody set a variable to one', () => {
    expect(createScrubber(['on', 'true', ''])('true, it is on')).toBe('true, it is on');
  });
});

describe('createScrubber without configuration', () => {
  const scrub = createScrubber([]);

  it.each([
    ['a bot token', `token ${TOKEN}.`, 'token [secret].'],
    ['a token in a path', `POST /bot${TOKEN}/sendMessage`, 'POST /bot[secret]/sendMessage'],
    ['a token in an encoded path', `bot${TOKEN.replace(':', '%3A')}/x`, 'bot[secret]/x'],
    ['a session of the page', `for parley_session_${'a-_9'.repeat(10)}abc`, 'for [secret]'],
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
  ])('[D10] recognises %s', (_what, text, expected) => {
    expect(scrub(text)).toBe(expected);
  });

  it.each([
    '2026-11-21T04:22:32.113+0100',
    'task-management-of-the-whole-team',
    'bearer authentication failed',
    '1+12345678901 apples',
    'at 12:34:56, 1700000000000 ms',
    'telegram:123456789',
  ])('leaves %s alone', (text) => {
    expect(scrub(text)).toBe(text);
  });
});
