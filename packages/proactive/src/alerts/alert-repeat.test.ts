import { describe, expect, it } from 'vitest';
import { alertFingerprint, repeatSince } from './alert-repeat.ts';

const SAID = 'The backup of 3:00 failed.';

describe('an alert that was told already', () => {
  it.each([
    ['marks', '**The backup of 3:00 failed.**'],
    ['case', 'THE BACKUP OF 3:00 FAILED'],
    ['space', 'The  backup of\n3:00 failed'],
    ['stops and pictures', '⚠️ The backup, of 3:00 … failed!'],
    ['what nobody sees', 'The\u200b backup of 3:00 failed.'],
    ['full-width letters', 'Ｔｈｅ backup of 3:00 failed.'],
  ])('[H04] is the same with other %s', (_what, text) => {
    expect(alertFingerprint(text)).toBe(alertFingerprint(SAID));
  });

  it.each(['The backup of 4:00 failed.', 'The backup of 3:00 worked.', '', '🔥', 'é'])(
    '[H04] is another one than %j',
    (text) => expect(alertFingerprint(text)).not.toBe(alertFingerprint(SAID)),
  );

  it('[H04] of pictures alone is known again, too', () => {
    expect(alertFingerprint('🔥')).toBe(alertFingerprint(' 🔥\n'));
    expect(alertFingerprint('🔥')).not.toBe(alertFingerprint('🚪'));
    expect(alertFingerprint('e')).not.toBe(alertFingerprint('é'));
  });

  it('[H04] may be told again after 24 hours', () => {
    expect(repeatSince(Date.parse('2026-11-21T12:00Z'), 24)).toBe(Date.parse('2026-11-20T12:00Z'));
  });
});
