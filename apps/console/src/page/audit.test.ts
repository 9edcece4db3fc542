import type { AuditFinding } from '@parley/gateway/api';
import { describe, expect, it } from 'vitest';
import { groupByCheck } from './audit.tsx';

const finding: AuditFinding = {
  id: 'a.b',
  severity: 'warning',
  found: 'One.',
  remedy: 'Do this.',
};

describe('the audit view', () => {
  it('[U05] groups the findings of one check under the same advice', () => {
    const worse = { ...finding, severity: 'critical' } as const;
    const findings = [worse, finding, { ...finding, found: 'Two.' }, { ...finding, id: 'c.d' }];
    expect(groupByCheck(findings)).toEqual([
      { id: 'a.b', severity: 'critical', found: ['One.'], remedy: 'Do this.' },
      { id: 'a.b', severity: 'warning', found: ['One.', 'Two.'], remedy: 'Do this.' },
      { id: 'c.d', severity: 'warning', found: ['One.'], remedy: 'Do this.' },
    ]);
  });
});
