import { defineReadOperation } from '@parley/core';
import { z } from 'zod';
import type { AuditReport, BugReport, LogQuery, LogReport } from './http/api.ts';

interface DiagnosisOperationDeps {
  /** Lists this installation's security weaknesses (U05). */
  audit(): Promise<AuditReport>;
  /** Reads the stored logs of all processes that write to this data folder. */
  logs(query: LogQuery): Promise<LogReport>;
  /** Creates the bundle for a bug report. */
  bugReport(): Promise<BugReport>;
}

const RUNNING = { running: true } as const;

export const audit = {
  report: defineReadOperation(
    'List the security weaknesses of this installation; only owners see people, chats and files',
    {},
    async (needs: DiagnosisOperationDeps, _, { caller }) => {
      const report = await needs.audit();
      return caller.role === 'owner' ? report : removeNames(report);
    },
    { role: 'operator', ...RUNNING },
  ),
};

const MAX_LINES = 500;
const optionalText = (most: number) => z.string().trim().min(1).max(most).optional();

/** Log lines name chats and people, so reading them requires a role that may see these. */
export const logs = {
  read: defineReadOperation(
    'List the stored log lines, newest first; pass `next` as `before` to get older lines',
    {
      level: z.enum(['debug', 'info', 'warn', 'error']).default('debug'),
      ...{ channel: optionalText(100), conversation: optionalText(700), text: optionalText(200) },
      before: z.coerce.number<number | string>().int().positive().optional(),
      limit: z.coerce.number<number | string>().int().min(1).max(MAX_LINES).default(200),
    },
    ({ logs }: DiagnosisOperationDeps, query) => logs(query),
    RUNNING,
  ),
};

export const report = {
  bundle: defineReadOperation(
    'Create a bundle for a bug report, without secrets, names or message text',
    {},
    async ({ bugReport }: DiagnosisOperationDeps) => bugReport(),
    RUNNING,
  ),
};

/** Checks whose findings do not contain names of people, chats, workspace files or rules. */
const NAMELESS =
  /^(?:exec|files|mcp|web)\.|^access\.(?:always-in-open-groups|direct-open|groups-open|live-mentions|no-cap)$|^access\.(?:database-password|page-exposed|redis-password|servers-without-tls|unverified-webhook|weak-token|webhook-secret)$/;

/**
 * Returns the audit for people who are not owners. For checks outside NAMELESS, it contains only
 * the severity and the advice.
 */
function removeNames(report: AuditReport): AuditReport {
  const hidden = new Set<string>();
  const findings = report.findings.flatMap((finding) => {
    if (NAMELESS.test(finding.id)) return [finding];
    const key = `${finding.id} ${finding.severity}`;
    if (hidden.has(key)) return [];
    hidden.add(key);
    return [{ ...finding, found: 'Only owners can see the details.' }];
  });
  return { ...report, findings };
}
