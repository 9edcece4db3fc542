import type { Approval } from '@parley/store';

const STATES: Readonly<Record<Approval['state'], string>> = {
  pending: 'waits',
  approved: 'allowed',
  denied: 'refused',
  expired: 'nobody answered',
  withdrawn: 'stopped',
  auto: 'allowed by the settings',
};

/** The record of questions for people, oldest first: when, what, for whom, who decided, what came of it. */
export function approvalsText(newestFirst: readonly Approval[]): string {
  if (newestFirst.length === 0) return 'Nobody has been asked for an approval yet.';
  return [...newestFirst].reverse().map(entry).join('\n');
}

function entry(approval: Approval): string {
  const { askedAt, code, tool, shown, askedBy, place, state, decidedBy, decidedAt } = approval;
  const by = decidedBy === null ? '' : ` by ${decidedBy}`;
  const at = decidedAt === null ? '' : ` at ${time(decidedAt)}`;
  const ran =
    approval.result === null
      ? ''
      : `; the call ${approval.result === 'done' ? 'worked' : 'failed'}`;
  return [
    `${time(askedAt)}  ${code}  ${tool} for ${askedBy} (${place}): ${STATES[state]}${by}${at}${ran}`,
    ...shown.split('\n').map((line) => `    ${line}`),
  ].join('\n');
}

/** `2026-11-21 14:05:09Z`. */
function time(ms: number): string {
  return new Date(ms)
    .toISOString()
    .replace('T', ' ')
    .replace(/\.\d+Z$/, 'Z');
}
