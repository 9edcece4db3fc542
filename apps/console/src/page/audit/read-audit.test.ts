import { describe, expect, it } from 'vitest';
import { readAudit } from './read-audit.ts';

const finding = { id: 'a.b', severity: 'warning', found: 'One.', remedy: 'Do this.' };

describe('the audit on the page', () => {
  it('[U05] lists what one check found together, with one remedy', () => {
    const findings = [finding, { ...finding, found: 'Two.' }, { ...finding, id: 'c.d' }];
    expect(readAudit({ at: 5, counts: { warning: 3 }, findings })).toEqual({
      at: 5,
      counts: { critical: 0, warning: 3, info: 0 },
      checks: [
        { id: 'a.b', severity: 'warning', found: ['One.', 'Two.'], remedy: 'Do this.' },
        { id: 'c.d', severity: 'warning', found: ['One.'], remedy: 'Do this.' },
      ],
    });
  });

  it('[U05] takes a severity that it does not know for the worst', () => {
    const { checks } = readAudit({ findings: [{ ...finding, severity: 'dire' }] });
    expect(checks[0]?.severity).toBe('critical');
  });
});
